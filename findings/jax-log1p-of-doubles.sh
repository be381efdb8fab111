#!/usr/bin/env bash
# Guessed: log1p of float64 keeps to some units in the last place, as float32's does, and so do erf_inv and normal numbers made of it.
# Real: at -0.4141 JAX 0.10.2 is more than 100 units off, and NumPy within one of mpmath everywhere; 0.12.0.1 is within 3, so that the two draw different normal numbers of float64 from one key.
# Version: jax 0.10.2, numpy 2.3.5, mpmath 1.3.0 (0.12.0.1, which needs Python 3.12, was compared by hand).
. "$(dirname "$0")/packages.sh"
install_python jax==0.10.2 numpy==2.3.5 mpmath==1.3.0
behaves "JAX: more than 100 units in the last place; NumPy: at most 1" <<'PYTHON'
import jax, mpmath, numpy

jax.config.update("jax_enable_x64", True)
print("jax", jax.__version__, "numpy", numpy.__version__)
mpmath.mp.prec = 120
x = numpy.linspace(-0.999, 0.999, 10000)
exact = [mpmath.log1p(mpmath.mpf(float(v))) for v in x]

def largest(values):
    units = [abs(mpmath.mpf(float(v)) - e) / float(numpy.spacing(abs(float(e)))) for v, e in zip(values, exact)]
    at = max(range(len(units)), key=units.__getitem__)
    print(f"  {float(units[at]):.2f} units at {x[at]}")
    return float(units[at])

of_jax, of_numpy = largest(numpy.asarray(jax.numpy.log1p(x))), largest(numpy.log1p(x))
print(f"JAX: {'more than 100 units in the last place' if of_jax > 100 else of_jax}; NumPy: {'at most 1' if of_numpy <= 1 else of_numpy}")
PYTHON
