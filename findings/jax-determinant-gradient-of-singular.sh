#!/usr/bin/env bash
# Guessed: the gradient of jnp.linalg.det is the matrix of cofactors for singular matrices too: of diag(0, 1, 2, 3) it has 6 at (0, 0).
# Real: from 4 x 4 on it depends on where the zero stands: it is right for diag(1, 2, 3, 0), and all 0 for the other three.
# Version: JAX 0.10.2, on CPU (0.12.0.1 alike).
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2
behaves "largest slope of det with a 0 at 0, 1, 2, 3: of 3 x 3 2 2 2, of 4 x 4 0 0 0 6" <<'PYTHON'
import jax, jax.numpy as jnp

def largest_slopes(others):
    matrices = [jnp.diag(jnp.array(others[:place] + [0.0] + others[place:])) for place in range(len(others) + 1)]
    return " ".join(f"{float(jnp.max(jax.grad(jnp.linalg.det)(matrix))):g}" for matrix in matrices)

print("jax", jax.__version__)
print(f"largest slope of det with a 0 at 0, 1, 2, 3: of 3 x 3 {largest_slopes([1.0, 2.0])}, of 4 x 4 {largest_slopes([1.0, 2.0, 3.0])}")
PYTHON
