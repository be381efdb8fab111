#!/usr/bin/env bash
# Guessed: on a branch cut the sign of a zero says from which side, so that sqrt(-4 - 0j) is -2j, as in C and NumPy, and as jnp.log has it.
# Real: jnp.sqrt gives 2j, and jnp.arcsin and jnp.arccosh take the other side too: sqrt(z) is not exp(log(z) / 2) there.
# Version: JAX 0.10.2, on CPU (0.12.0.1 alike), NumPy 2.4.6.
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
behaves "NumPy: sqrt -2.00 log -3.14 arcsin -1.32 arccosh -3.14; JAX: sqrt 2.00 log -3.14 arcsin 1.32 arccosh 3.14" <<'PYTHON'
import jax, jax.numpy as jnp, numpy as np

def imaginary(library):
    below = library.asarray(np.array([complex(-4, -0.0), complex(2, -0.0)], np.complex64))
    functions = [("sqrt", 0), ("log", 0), ("arcsin", 1), ("arccosh", 0)]
    return " ".join(f"{name} {float(getattr(library, name)(below)[place].imag):.2f}" for name, place in functions)

print("jax", jax.__version__, "numpy", np.__version__)
print(f"NumPy: {imaginary(np)}; JAX: {imaginary(jnp)}")
PYTHON
