#!/usr/bin/env bash
# Guessed: jax.random.uniform(minval=1, maxval=1.5) lies in [1, 1.5), as its documentation says.
# Real: it is 1.5 now and then, of bfloat16 once in about 130: the product is rounded up to the end of the interval.
# Version: JAX 0.10.2, on CPU.
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2
behaves "largest: float32 1.5, float16 1.5, bfloat16 1.5" <<'PYTHON'
import jax, jax.numpy as jnp

def largest(dtype):
    return float(jax.random.uniform(jax.random.key(0), (1 << 21,), dtype, minval=1.0, maxval=1.5).max())

print("jax", jax.__version__)
print(f"largest: float32 {largest(jnp.float32)}, float16 {largest(jnp.float16)}, bfloat16 {largest(jnp.bfloat16)}")
PYTHON
