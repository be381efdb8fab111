"""How a case is measured in NumPy, JAX and PyTorch: a line of JSON for each, with the median time and a digest."""
import json
import os
import statistics
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

SECONDS = float(os.environ.get("PARALLAX_BENCH_SECONDS", "0.2"))  # of each measurement
torch.set_num_threads(1)


def waves(shape, phase, element=np.float32):
    """sin(i / 1000 + phase) in row-major order, as the cases in C++ have it."""
    return np.sin(np.arange(int(np.prod(shape))) * 0.001 + phase).astype(element).reshape(shape)


def measure(case, who, run):
    """The median of runs of a millisecond or longer; results are dropped when the next is there."""
    result = run()
    times = []
    begin = time.perf_counter()
    while time.perf_counter() - begin < SECONDS or len(times) < 3:
        start = time.perf_counter()
        repeats = 0
        while repeats == 0 or time.perf_counter() - start < 1e-3:
            result = run()
            repeats += 1
        times.append((time.perf_counter() - start) / repeats)
    first = jax.tree_util.tree_leaves(result)[0]
    digest = float(np.mean(np.abs(np.asarray(first, dtype=np.float64))))
    print(json.dumps({"name": f"{case}/{who}", "seconds": statistics.median(times), "digest": digest}), flush=True)


def in_jax(case, function, *arguments):
    compiled = jax.jit(function)
    given = jax.tree_util.tree_map(jax.numpy.asarray, arguments)
    measure(case, "jax", lambda: jax.block_until_ready(compiled(*given)))


def in_numpy(case, function, *arguments):
    measure(case, "numpy", lambda: function(*arguments))


def in_torch(case, function, *arguments, compiled=False):
    """As it is, and by torch.compile where that may fuse something."""
    given = jax.tree_util.tree_map(torch.from_numpy, arguments)
    measure(case, "pytorch", lambda: function(*given))
    if compiled:
        torch.compiler.reset()  # of each case anew, for its own extents
        fused = torch.compile(function, dynamic=False)
        measure(case, "torch.compile", lambda: fused(*given))
