#!/usr/bin/env bash
# Guessed: jax.random.truncated_normal of [6, 7] draws numbers that crowd at 6; their mean is 6.16.
# Real: each is 6.9999995, and of [-7, -6] -6.9999995, the unlikeliest end: the error function of both bounds is 1 in float32.
# Version: JAX 0.10.2, on CPU (0.12.0.1 alike).
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2
behaves "from, to, and mean of 100,000: of [2, 3] 2.00 3.00 2.32, of [6, 7] 7.00 7.00 7.00, of [-7, -6] -7.00 -7.00 -7.00" <<'PYTHON'
import jax, jax.numpy as jnp

def drawn(low, high):
    numbers = jax.random.truncated_normal(jax.random.key(0), low, high, (100_000,))
    return f"of [{low}, {high}] {numbers.min():.2f} {numbers.max():.2f} {numbers.mean():.2f}"

print("jax", jax.__version__)
print("from, to, and mean of 100,000:", ", ".join(drawn(*bounds) for bounds in [(2, 3), (6, 7), (-7, -6)]))
PYTHON
