#!/usr/bin/env bash
# Guessed: a step of Adam for float16 parameters of zero gradients is 0, and for small gradients about the rate.
# Real: NaN and -inf: gradients are squared, and eps = 1e-8 is added, in float16, where both are 0.
# Version: optax 0.2.8 on JAX 0.10.2, on CPU.
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2 optax==0.2.8
behaves "steps of gradients 0, 2e-5 and 1: nan -inf -0.001" <<'PYTHON'
import jax, jax.numpy as jnp, optax

parameters = jnp.zeros(3, jnp.float16)
adam = optax.adam(1e-3)
steps, _ = adam.update(jnp.array([0, 2e-5, 1], jnp.float16), adam.init(parameters), parameters)
print("jax", jax.__version__, "optax", optax.__version__)
print("steps of gradients 0, 2e-5 and 1:", *(f"{float(step):.3g}" for step in steps))
PYTHON
