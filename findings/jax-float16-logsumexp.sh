#!/usr/bin/env bash
# Guessed: jax.nn.logsumexp of 65,536 float16 zeros is log(65536) = 11.09, which float16 has; softmax of them is 1/65536.
# Real: it is infinite, and the gradient 0: the sum of exponentials is made in float32, but rounded to float16 for the logarithm.
# Version: JAX 0.10.2, on CPU.
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2
behaves "of 65,504 zeros: 11.1, of 65,536: inf, with a gradient of 0" <<'PYTHON'
import jax, jax.numpy as jnp

def of_zeros(count):
    return float(jax.nn.logsumexp(jnp.zeros(count, jnp.float16)))

slope = jax.grad(lambda x: jax.nn.logsumexp(x).astype(jnp.float32))(jnp.zeros(65536, jnp.float16))
print("jax", jax.__version__)
print(f"of 65,504 zeros: {of_zeros(65504):.3g}, of 65,536: {of_zeros(65536):.3g}, with a gradient of {float(slope[0]):.3g}")
PYTHON
