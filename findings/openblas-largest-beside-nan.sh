#!/usr/bin/env bash
# Guessed: cblas_isamax of [5, nan, 1, 9] is 3, the place of 9, as the reference BLAS compares, or 1, that of NaN, and cblas_idamax says the same.
# Real: isamax says 0, the place of 5, and idamax 1. Among more numbers both may find the largest one behind a NaN.
# Version: OpenBLAS 0.3.34 of scipy-openblas64 0.3.34.481.3, with its code for Nehalem (Haswell's alike).
. "$(dirname "$0")/packages.sh"
install_python scipy-openblas64==0.3.34.481.3 numpy==2.4.6
export OPENBLAS_CORETYPE=Nehalem
behaves "of 5 nan 1 9: isamax 0, idamax 1; of 1 nan 3: isamax 0, idamax 1; of 1 nan 3 4 5 6 7 8 9: isamax 8, idamax 8" <<'PYTHON'
import ctypes, numpy as np, scipy_openblas64
from pathlib import Path

library = ctypes.CDLL(next(map(str, Path(scipy_openblas64.get_lib_dir()).glob("libscipy_openblas64_*.so*"))))
library.scipy_openblas_get_config64_.restype = ctypes.c_char_p

def place(name, dtype, numbers):
    function = getattr(library, f"scipy_cblas_{name}64_")
    function.restype = ctypes.c_size_t
    array = np.array(numbers, dtype)
    return f"{name} {function(ctypes.c_int64(array.size), ctypes.c_void_p(array.ctypes.data), ctypes.c_int64(1))}"

def places(*numbers):
    return f"of {' '.join(map(str, numbers))}: {place('isamax', np.float32, numbers)}, {place('idamax', np.float64, numbers)}"

print(library.scipy_openblas_get_config64_().decode())
print("; ".join([places(5, np.nan, 1, 9), places(1, np.nan, 3), places(1, np.nan, 3, 4, 5, 6, 7, 8, 9)]))
PYTHON
