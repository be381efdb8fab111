#!/usr/bin/env bash
# Guessed: jnp.power of two int32 arrays is the power modulo 2^32, whatever the exponent, as NumPy's is.
# Real: only the lowest 6 bits of an exponent count: 3 ** 64 is 3 ** 0. An exponent that is a Python number counts in full.
# Version: JAX 0.10.2, on CPU (0.12.0.1 alike).
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
behaves "3 ** 63, 64, 100: NumPy 2111105451 2038349057 -818408495, JAX 2111105451 1 -1953380655, by numbers 2111105451 2038349057 -818408495" <<'PYTHON'
import jax, jax.numpy as jnp, numpy as np

exponents = np.array([63, 64, 100], np.int32)
threes = np.full(3, 3, np.int32)
by_numbers = [jnp.asarray(threes)[0] ** int(exponent) for exponent in exponents]
print("jax", jax.__version__, "numpy", np.__version__)
print("3 ** 63, 64, 100: NumPy", *threes**exponents, end=", JAX ")
print(*jnp.asarray(threes) ** jnp.asarray(exponents), end=", by numbers ")
print(*by_numbers)
PYTHON
