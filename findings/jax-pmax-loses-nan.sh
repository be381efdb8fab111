#!/usr/bin/env bash
# Guessed: lax.pmax over devices gives NaN if one of them has NaN, as jnp.max does, and pmax over an axis of vmap.
# Real: it gives the largest other number, and -inf if all are NaN: a check for NaN by pmax of a loss finds none.
# Version: JAX 0.10.2, on 4 devices of the CPU (0.12.0.1 alike).
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2
behaves "of 1 nan 3 2: max nan, by vmap nan, by devices 3; of nan alone by devices: -inf" <<'PYTHON'
import jax, jax.numpy as jnp
from jax.sharding import PartitionSpec

jax.config.update("jax_num_cpu_devices", 4)
mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
largest = lambda x: jax.lax.pmax(x, "i")
by_devices = jax.shard_map(lambda x: largest(x[0]), mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec())
x = jnp.array([1, jnp.nan, 3, 2])
print("jax", jax.__version__)
print(f"of 1 nan 3 2: max {jnp.max(x):g}, by vmap {jax.vmap(largest, axis_name='i')(x)[0]:g}, by devices {by_devices(x):g};", end=" ")
print(f"of nan alone by devices: {by_devices(jnp.full(4, jnp.nan)):g}")
PYTHON
