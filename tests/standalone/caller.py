"""Calls the functions of a shared library by ctypes. Usage: caller.py <library>"""
import ctypes
import math
import sys

library = ctypes.CDLL(sys.argv[1])
floats = lambda values: (ctypes.c_float * len(values))(*values)
w = [(i * 5 % 7 - 3) / 8 for i in range(12)]
x, b, y = [0.5, -1, 2, 0.25], [0.1, 0.2, -0.3], floats([0] * 3)
library.layer(floats(w), floats(x), floats(b), y)
expected = [math.tanh(sum(w[i * 4 + k] * x[k] for k in range(4)) + b[i]) for i in range(3)]
if not all(math.isclose(a, e, rel_tol=1e-5) for a, e in zip(y, expected)):
    sys.exit(f"layer is {list(y)} and not {expected}")
