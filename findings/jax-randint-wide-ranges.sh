#!/usr/bin/env bash
# Guessed: jax.random.randint draws each number of [minval, maxval) equally often, whatever the range.
# Real: of 3 * 2^30 values of uint32 those of the first third come twice as often: the first of two draws counts for nothing.
# Version: JAX 0.10.2, on CPU.
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2
behaves "share of the first third: 0.50, of the others: 0.25 0.25" <<'PYTHON'
import jax, jax.numpy as jnp

third = 2**30
drawn = jax.random.randint(jax.random.key(0), (1_000_000,), jnp.uint32(0), jnp.uint32(3 * third), dtype=jnp.uint32)
first, second, last = (float(jnp.mean(drawn // third == k)) for k in range(3))
print("jax", jax.__version__)
print(f"share of the first third: {first:.2f}, of the others: {second:.2f} {last:.2f}")
PYTHON
