#!/usr/bin/env bash
# Guessed: np.sort of bfloat16 puts NaN last and the numbers in order, as of float16 and float32.
# Real: NaN stays where it stood, and the numbers around it are not in order, so that np.unique may return one twice; float8 alike.
# Version: ml_dtypes 0.6.0 with NumPy 2.4.6.
. "$(dirname "$0")/packages.sh"
install_python ml_dtypes==0.6.0 numpy==2.4.6
behaves "3 nan 1 2 3 sorted: float16 1 2 3 3 nan, bfloat16 3 nan 1 2 3, float8_e4m3fn 3 nan 1 2 3; unique: float16 1 2 3 nan, bfloat16 3 nan 1 2 3" <<'PYTHON'
import ml_dtypes, numpy as np

def sorted_as(dtype, sort=np.sort):
    numbers = np.array([3, np.nan, 1, 2, 3], dtype)
    return np.dtype(dtype).name + " " + " ".join(f"{x:g}" for x in sort(numbers).astype(float))

print("ml_dtypes", ml_dtypes.__version__, "numpy", np.__version__)
print("3 nan 1 2 3 sorted:", ", ".join(map(sorted_as, [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])), end="; ")
print("unique:", sorted_as(np.float16, np.unique) + ",", sorted_as(ml_dtypes.bfloat16, np.unique))
PYTHON
