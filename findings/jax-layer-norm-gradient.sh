#!/usr/bin/env bash
# Guessed: rows are normalised one by one, so the gradient of a row is the same in an array of 4080 rows and in one of 4096.
# Real: with 4096 rows of 512 it is wrong by a tenth of the largest slope, without a word; that of each half of the rows is right.
# Version: JAX 0.12.0.1, on CPU, for Python 3.12 or newer (JAX 0.10.2 is right).
PYTHON=${PYTHON:-python3.13}
. "$(dirname "$0")/packages.sh"
install_python jax==0.12.0.1 jaxlib==0.12.0.1
behaves "largest slope 5.31; off with 4080 rows 0.00, 4096 rows 0.60" <<'PYTHON'
import jax, jax.numpy as jnp

def weighed(x, weights):
    deviation = x - x.mean(1, keepdims=True)
    return jnp.sum(weights * deviation * jax.lax.rsqrt((deviation * deviation).mean(1, keepdims=True) + 1e-5))

gradient = jax.jit(jax.grad(weighed))

def compared(rows):
    x, weights = jax.random.normal(jax.random.key(0), (2, rows, 512))
    halves = [gradient(x[part], weights[part]) for part in (slice(0, rows // 2), slice(rows // 2, rows))]
    right = jnp.concatenate(halves)
    return float(jnp.abs(right).max()), float(jnp.abs(gradient(x, weights) - right).max())

print("jax", jax.__version__)
(_, few), (largest, many) = compared(4080), compared(4096)
print(f"largest slope {largest:.2f}; off with 4080 rows {few:.2f}, 4096 rows {many:.2f}")
PYTHON
