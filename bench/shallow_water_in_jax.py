#!/usr/bin/env python3
"""Steps of a shallow sea in several processes by JAX and mpi4jax: the scheme of shallow_water.hpp.

Usage: mpirun -n 2 python3 shallow_water_in_jax.py [rows columns steps]
Needs jax, mpi4py and mpi4jax.
"""
import functools
import sys
import time

import jax
import jax.numpy as jnp
import mpi4jax
import numpy as np
from mpi4py import MPI

rows, columns, steps = (int(x) for x in sys.argv[1:]) if len(sys.argv) == 4 else (1800, 3600, 50)
everybody = MPI.COMM_WORLD
rank, size = everybody.Get_rank(), everybody.Get_size()
own = rows // size
step_length, rotation = 0.3, 0.01


def with_neighbours(inner):
    block = jnp.pad(inner, ((1, 1), (1, 1)))
    above, below = rank - 1, rank + 1
    # what goes down comes from above
    if rank % 2 == 0:
        block = from_above(send_below(block, below), above)
        return from_below(send_above(block, above), below)
    block = send_below(from_above(block, above), below)
    return send_above(from_below(block, below), above)


def send_below(block, to):
    if to < size:
        mpi4jax.send(block[-2], to, tag=0, comm=everybody)
    return block


def send_above(block, to):
    if to >= 0:
        mpi4jax.send(block[1], to, tag=1, comm=everybody)
    return block


def from_above(block, source):
    return block if source < 0 else block.at[0].set(mpi4jax.recv(block[0], source, tag=0, comm=everybody))


def from_below(block, source):
    return block if source >= size else block.at[-1].set(mpi4jax.recv(block[-1], source, tag=1, comm=everybody))


def beside(x, down, right):
    return x[1 + down:x.shape[0] - 1 + down, 1 + right:x.shape[1] - 1 + right]


def step(h, u, v):
    height = with_neighbours(beside(h, 0, 0) - step_length *
                             (beside(u, 0, 0) - beside(u, 0, -1) + beside(v, 0, 0) - beside(v, -1, 0)))
    v_around = 0.25 * (beside(v, 0, 0) + beside(v, -1, 0) + beside(v, 0, 1) + beside(v, -1, 1))
    u_around = 0.25 * (beside(u, 0, 0) + beside(u, 0, -1) + beside(u, 1, 0) + beside(u, 1, -1))
    east = beside(u, 0, 0) + step_length * (rotation * v_around - (beside(height, 0, 1) - beside(height, 0, 0)))
    north = beside(v, 0, 0) - step_length * (rotation * u_around + (beside(height, 1, 0) - beside(height, 0, 0)))
    return height, with_neighbours(east), with_neighbours(north)


@functools.partial(jax.jit, static_argnums=3, donate_argnums=(0, 1, 2))
def advance(h, u, v, count):
    return jax.lax.fori_loop(0, count, lambda _, s: step(*s), (h, u, v))


y = (np.arange(-1, own + 1) + rank * own)[:, None] / rows - 0.4
x = np.arange(-1, columns + 1)[None, :] / columns - 0.6
h = np.exp(-100 * (x * x + y * y)).astype(np.float32)
h[:, 0] = h[:, -1] = 0
if rank == 0:
    h[0] = 0
if rank == size - 1:
    h[-1] = 0
s = jnp.asarray(h), jnp.zeros_like(h), jnp.zeros_like(h)
s = jax.block_until_ready(advance(*s, steps))
best = 1e9
for run in range(3):
    everybody.Barrier()
    begin = time.perf_counter()
    s = jax.block_until_ready(advance(*s, steps))
    everybody.Barrier()
    best = min(best, time.perf_counter() - begin)
total = everybody.reduce(float(jnp.sum(s[0][1:-1, 1:-1])))
if rank == 0:
    print(f"JAX {jax.__version__}, mpi4jax {mpi4jax.__version__}, {size} processes: {1e3 * best / steps:.2f} ms a step; "
          f"sum of heights {total:.3f}")
