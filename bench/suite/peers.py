"""A family of the cases of `scripts/bench` in NumPy, JAX and PyTorch; or, by itself, how long JAX compiles a step.

Usage: peers.py FAMILY|compilation
"""
import json
import sys
import time

import jax
import peer_arrays
import peer_programs

FAMILIES = {"elementwise": peer_arrays.elementwise, "functions": peer_arrays.functions, "rows": peer_arrays.rows,
            "products": peer_arrays.products, "training": peer_programs.training, "loops": peer_programs.loops,
            "random": peer_programs.random, "devices": peer_programs.devices}

if sys.argv[1] == "compilation":
    start = time.perf_counter()
    jax.jit(peer_programs.training_step).lower(*peer_programs.perceptron(256)).compile()
    print(json.dumps({"seconds": time.perf_counter() - start}))
else:
    FAMILIES[sys.argv[1]]()
