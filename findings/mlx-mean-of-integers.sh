#!/usr/bin/env bash
# Guessed: mx.mean of int32 numbers, which is a float32, is computed as one: that of three times 10^9 is 10^9, as NumPy's and JAX's.
# Real: it is -431655776: the sum is made in int32 and wraps before it is divided. So the mean of positive numbers may be negative.
# Version: mlx 0.32.4, on CPU.
. "$(dirname "$0")/packages.sh"
install_python "mlx[cpu]==0.32.4" numpy==2.4.6
behaves "of three times 10^9: NumPy 1000000000, mlx -431655776; of floats: 1000000000" <<'PYTHON'
import mlx.core as mx, numpy as np
from importlib.metadata import version

numbers = np.full(3, 10**9, np.int32)
print("mlx", version("mlx"), "numpy", np.__version__)
print(f"of three times 10^9: NumPy {np.mean(numbers):.0f}, mlx {mx.mean(mx.array(numbers)).item():.0f};", end=" ")
print(f"of floats: {mx.mean(mx.array(numbers).astype(mx.float32)).item():.0f}")
PYTHON
