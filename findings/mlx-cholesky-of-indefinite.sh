#!/usr/bin/env bash
# Guessed: mx.linalg.cholesky of a matrix that is not positive definite is an error, as NumPy's, or NaN, as JAX's.
# Real: it is a finite triangle, where LAPACK had stopped, that is no factor, and nothing says so.
# Version: mlx 0.32.4, on CPU.
. "$(dirname "$0")/packages.sh"
install_python "mlx[cpu]==0.32.4" numpy==2.4.6
behaves "of 1 2 2 1: NumPy LinAlgError, mlx 1 0 2 -3, which is the factor of 1 2 2 13" <<'PYTHON'
import mlx.core as mx, numpy as np
from importlib.metadata import version

matrix = np.array([[1, 2], [2, 1]], np.float32)
try: numpy_says = np.linalg.cholesky(matrix)
except np.linalg.LinAlgError as error: numpy_says = type(error).__name__
factor = np.array(mx.linalg.cholesky(mx.array(matrix), stream=mx.cpu))
numbers = lambda array: " ".join(f"{x:g}" for x in array.flat)
print("mlx", version("mlx"), "numpy", np.__version__)
print(f"of {numbers(matrix)}: NumPy {numpy_says}, mlx {numbers(factor)}, which is the factor of {numbers(factor @ factor.T)}")
PYTHON
