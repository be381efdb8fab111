"""The cases of scripts/gpu-check that are measured in Python too (bench/support/*_cases.cuh, tests/gpu/step_cases.cuh): their
names, their arguments, and how calls are timed."""
import math
import statistics
import time
from typing import NamedTuple

ELEMENTS = 1 << 26
MATRIX = (1 << 14, 1 << 12)
BLOCK = {"batch": 8, "sequence": 512, "width": 1024, "heads": 16}
PERCEPTRON = (784, 256, 256, 10)

class Case(NamedTuple):
    name: str
    kind: str          # what is computed
    dtype: str = "float32"
    columns: int = 0   # of a row, or examples of a batch
    host: bool = False  # the host's time counts


def all_cases():
    """What teaches most comes first."""
    cases = []
    for first in (True, False):
        for batch in (128, 4096) if first else (1,):
            for optimiser in ("SGD", "Adam") if first else ("SGD",):
                for what in ("host", "device"):
                    cases.append(Case(f"perceptron's step, {optimiser}, batch {batch}, {what}", optimiser, columns=batch,
                                      host=what == "host"))
        if first:
            cases.append(Case("transformer block, forward and back, TF32", "block"))
        for columns in (4096, 50257, 131072) if first else (1024, 16384, 400000):
            for kind in ("softmax", "layernorm", "cross-entropy"):
                cases.append(Case(f"{kind} of {columns}, float32", kind, columns=columns))
        for columns in (4096, 50257) if first else (131072,):
            for kind in ("softmax", "layernorm", "cross-entropy"):
                cases.append(Case(f"gradient of {kind} of {columns}, float32", f"gradient of {kind}", columns=columns))
        kinds = (("chain", "gelu", "sum of all", "sums of columns", "argmax of rows") if first else
                 ("x + y", "transposed, and a sum", "differences of neighbours", "sums of rows", "matrix by a vector"))
        for kind in kinds:
            for dtype in ("float32", "bfloat16"):
                cases.append(Case(f"{kind}, {dtype}", kind, dtype))
        for columns in (4096, 50257) if first else (1024, 131072, 400000):
            for kind in ("softmax", "layernorm", "cross-entropy"):
                cases.append(Case(f"{kind} of {columns}, bfloat16", kind, "bfloat16", columns))
    return cases


def shapes_of(case):
    """Of the floating-point arguments; a cross-entropy has labels too."""
    vector, rows = (ELEMENTS,), (ELEMENTS // case.columns, case.columns) if case.columns else None
    return {
        "2x + 1": [vector], "x + y": [vector] * 2, "chain": [vector] * 2, "gelu": [vector],
        "transposed, and a sum": [MATRIX[::-1], MATRIX], "differences of neighbours": [MATRIX],
        "sum of all": [MATRIX], "sums of rows": [MATRIX], "sums of columns": [MATRIX], "argmax of rows": [MATRIX],
        "matrix by a vector": [MATRIX, MATRIX[1:]],
        "softmax": [rows], "layernorm": [rows, rows and rows[1:], rows and rows[1:]], "cross-entropy": [rows],
        "gradient of softmax": [rows] * 2, "gradient of layernorm": [rows, rows and rows[1:], rows and rows[1:], rows],
        "gradient of cross-entropy": [rows],
    }[case.kind]


def labels_of(numpy, case):
    rows = ELEMENTS // case.columns
    return (numpy.arange(rows, dtype=numpy.int64) * 7919 % case.columns).astype(numpy.int32)


def mixed(numpy, shape, scale, seed):
    """The numbers that tests/gpu/step_cases.cuh makes."""
    with numpy.errstate(over="ignore"):
        bits = (numpy.arange(math.prod(shape), dtype=numpy.uint32) ^ numpy.uint32(seed)) * numpy.uint32(2654435761)
        bits = (bits ^ bits >> numpy.uint32(15)) * numpy.uint32(2246822519)
    unit = (bits >> numpy.uint32(8)).astype(numpy.float32) * numpy.float32(2**-23) - numpy.float32(1)
    return (numpy.float32(scale) * unit).reshape(shape)


def block_of(numpy):
    """Parameters and input."""
    width, small = BLOCK["width"], 1 / 32
    shapes = {"attention_scale": ((width,), 1), "attention_shift": ((width,), 1), "query": ((width, width), small),
              "key": ((width, width), small), "value": ((width, width), small), "result": ((width, width), small),
              "mlp_scale": ((width,), 1), "mlp_shift": ((width,), 1), "up": ((width, 4 * width), small),
              "up_bias": ((4 * width,), small), "down": ((4 * width, width), 1 / 64), "down_bias": ((width,), small)}
    params = {name: mixed(numpy, shape, scale, seed) for seed, (name, (shape, scale)) in enumerate(shapes.items(), 1)}
    return params, mixed(numpy, (BLOCK["batch"], BLOCK["sequence"], width), 1, 13)


def perceptron_of(numpy, batch):
    """Weights and biases, examples, targets."""
    params = []
    for layer, (inputs, outputs) in enumerate(zip(PERCEPTRON, PERCEPTRON[1:])):
        for shape, seed in (((inputs, outputs), 2 * layer + 1), ((outputs,), 2 * layer + 2)):
            params.append(mixed(numpy, shape, 1 / math.sqrt(inputs), seed))
    targets = numpy.zeros((batch, PERCEPTRON[-1]), numpy.float32)
    targets[numpy.arange(batch), numpy.arange(batch) * 7 % PERCEPTRON[-1]] = 1
    return params, mixed(numpy, (batch, PERCEPTRON[0]), 1, 7), targets


class Times(NamedTuple):
    """Of one call, in microseconds."""
    minimum: float
    median: float
    p90: float
    samples: int


def times_of(samples):
    ordered = sorted(1e6 * s for s in samples)
    return Times(ordered[0], statistics.median_low(ordered), ordered[-(-(len(ordered) - 1) * 9 // 10)], len(ordered))


def host_times(call, wait, once):
    """Of the host for so few calls that no queue is full."""
    runs = int(min(max(2e-3 / once, 5), 100))
    samples = []
    for _ in range(30):
        begin = time.perf_counter()
        for _ in range(runs):
            call()
        samples.append((time.perf_counter() - begin) / runs)
        wait()
    return times_of(samples)


def wall_times(call, wait):
    """Until the device has done what it was given, by the host's clock."""
    def sample(runs):
        begin = time.perf_counter()
        for _ in range(runs):
            result = call()
        wait(result)
        return (time.perf_counter() - begin) / runs
    for _ in range(3):
        sample(1)
    once = sample(2)
    runs = int(min(max(5e-3 / once, 2), 1000))
    return times_of([sample(runs) for _ in range(15)])
