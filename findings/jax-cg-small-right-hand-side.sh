#!/usr/bin/env bash
# Guessed: jax.scipy.sparse.linalg.cg solves a x = b for b of 1e-25 as for b of 1, since the equation is linear.
# Real: x is 0: squares of b are 0 in float32, so that the residual counts as small enough before the first step.
# Version: JAX 0.10.2, on CPU.
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2
behaves "b of 1: 1 0.5 0.25, b of 1e-25: 0 0 0" <<'PYTHON'
import jax, jax.numpy as jnp

diagonal = jnp.array([1.0, 2.0, 4.0])

def solved(scale):
    x, _ = jax.scipy.sparse.linalg.cg(lambda v: diagonal * v, jnp.full(3, scale))
    return " ".join(f"{float(element):.3g}" for element in x)

print("jax", jax.__version__)
print(f"b of 1: {solved(1.0)}, b of 1e-25: {solved(1e-25)}")
PYTHON
