"""The cases of `scripts/bench` in NumPy and JAX: prints a line of JSON for each, with the median time and a digest.

Usage: suite_in_python.py kernels|programs|devices|compilation [seconds of each measurement]
"""
import json
import os
import statistics
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 0.2


def waves(shape, phase):
    count = int(np.prod(shape))
    return np.sin(np.arange(count) * 0.001 + phase).astype(np.float32).reshape(shape)


def measure(case, who, run, wait=lambda result: result):
    result = wait(run())
    times = []
    begin = time.perf_counter()
    while time.perf_counter() - begin < SECONDS or len(times) < 3:
        start = time.perf_counter()
        repeats = 0
        while True:
            result = wait(run())
            repeats += 1
            if time.perf_counter() - start > 1e-3:
                break
        times.append((time.perf_counter() - start) / repeats)
    first = jax.tree_util.tree_leaves(result)[0]
    digest = float(np.mean(np.abs(np.asarray(first, dtype=np.float64))))
    print(json.dumps({"name": f"{case}/{who}", "seconds": statistics.median(times), "digest": digest}), flush=True)


def both(case, function, *arguments, numpy=None):
    compiled = jax.jit(function)
    given = [jax.tree_util.tree_map(jnp.asarray, each) for each in arguments]
    measure(case, "jax", lambda: compiled(*given), jax.block_until_ready)
    if numpy is not None:
        measure(case, "numpy", lambda: numpy(*arguments))


def rows(count, length):
    size = f" {count}x{length}"
    x = waves((count, length), 0)
    both("sum rows" + size, lambda a: a.sum(1), x, numpy=lambda a: a.sum(1))
    both("sum columns" + size, lambda a: a.sum(0), x, numpy=lambda a: a.sum(0))
    both("max rows" + size, lambda a: a.max(1), x, numpy=lambda a: a.max(1))
    both("argmax rows" + size, lambda a: a.argmax(1), x, numpy=lambda a: a.argmax(1))
    both("softmax" + size, lambda a: jax.nn.softmax(a, 1), x)
    both("logsumexp" + size, lambda a: jax.nn.logsumexp(a, 1), x)


def loss(weights, x, target):
    w1, b1, w2, b2, w3, b3 = weights
    h = jnp.tanh(x @ w1 + b1)
    h = jnp.tanh(h @ w2 + b2)
    scores = h @ w3 + b3
    return -jnp.mean(jnp.sum(target * (scores - jax.nn.logsumexp(scores, 1, keepdims=True)), 1))


def training_step(weights, x, target):
    return jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, x, target))


def normalised(x):
    centred = x - x.mean(1, keepdims=True)
    return centred * lax.rsqrt(jnp.mean(jnp.square(centred), 1, keepdims=True) + 1e-5)


def block(weights, x):
    query, key, value, out, up, down = weights
    h = normalised(x)
    scores = (h @ query) @ (h @ key).T * 0.125
    y = x + jax.nn.softmax(scores, 1) @ (h @ value) @ out
    return y + jax.nn.gelu(normalised(y) @ up) @ down


def block_step(weights, x):
    return jax.grad(lambda w: jnp.mean(jnp.square(block(w, x))))(weights)


def chain(first, matrices):
    return lax.scan(lambda p, m: (m @ p, None), first, matrices)[0]


def kernels():
    for n in (4096, 1 << 16, 1 << 20, 1 << 22, 1 << 25):
        x, y, z = (waves((n,), k) for k in range(3))
        both(f"chain {n}", lambda a, b, c: a * b + c * 2 - b, x, y, z)
    x = waves((1 << 20,), 0)
    both("exp", jnp.exp, x, numpy=np.exp)
    both("tanh", jnp.tanh, x, numpy=np.tanh)
    both("log", lambda a: jnp.log(a + 2), x, numpy=lambda a: np.log(a + np.float32(2)))
    both("sin", jnp.sin, x, numpy=np.sin)
    both("logistic", jax.nn.sigmoid, x)
    for n in (1024, 4096):
        a, b = waves((n, n), 0), waves((n, n), 1)
        both(f"transposed sum {n}", lambda x, y: x.T + y, a, b, numpy=lambda x, y: x.T + y)
    both("row broadcast", lambda a, b: a + b, waves((4096, 1024), 0), waves((1024,), 1), numpy=lambda a, b: a + b)
    for shape in ((128, 128), (4096, 1024), (1 << 18, 64)):
        rows(*shape)
    for n in (16, 64, 256, 1024):
        both(f"matmul {n}", jnp.matmul, waves((n, n), 0), waves((n, n), 1), numpy=np.matmul)
    small = [waves((1024, 4, 4), k) for k in range(2)]
    both("1024 matmuls of 4", jnp.matmul, *small, numpy=np.matmul)


def weight(shape, phase):
    return waves(shape, phase) * np.float32(0.05)


def compilation():
    start = time.perf_counter()
    jax.jit(training_step).lower(*perceptron(256)).compile()
    print(json.dumps({"seconds": time.perf_counter() - start}))


def perceptron(batch):
    weights = (weight((784, 256), 0), waves((256,), 1), weight((256, 256), 2), waves((256,), 3), weight((256, 10), 4),
               waves((10,), 5))
    return weights, waves((batch, 784), 6), np.asarray(jax.nn.softmax(waves((batch, 10), 7), 1))


def programs():
    for batch in (32, 256):
        both(f"perceptron step {batch}", training_step, *perceptron(batch))
    for n in (64, 256):
        weights = [weight((n, n), k) for k in range(4)] + [weight((n, 4 * n), 4), weight((4 * n, n), 5)]
        both(f"transformer block {n}", block, weights, waves((n, n), 6))
        both(f"transformer block {n}, gradient", block_step, weights, waves((n, n), 6))
    jax.config.update("jax_enable_x64", True)
    matrices = waves((1000, 3, 3), 0).astype(np.float64) * 0.01 + np.eye(3)
    both("1000 products 3x3", chain, np.eye(3), matrices)
    both("1000 products 3x3, gradient", jax.grad(lambda first, m: chain(first, m).sum(), 1), np.eye(3), matrices)
    jax.config.update("jax_enable_x64", False)
    both("x + 1", lambda a: a + 1, np.float32(1))
    key = jax.random.key(0)
    draw = jax.jit(lambda k: jax.random.normal(k, (1 << 22,)))
    measure("normal 2^22", "jax", lambda: draw(key), jax.block_until_ready)


def devices():
    plus_one = jax.pmap(lambda x: x + 1)
    two = jax.pmap(lambda x: x * 1)(waves((2, 16), 0))
    measure("pmap x + 1, 2 devices", "jax", lambda: plus_one(two), jax.block_until_ready)
    total = jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")
    for size, name in ((1, "4 B"), (1 << 10, "4 KB"), (1 << 20, "4 MB")):
        spread = jax.pmap(lambda x: x * 1)(waves((8, size), 0))
        measure(f"psum of {name}, 8 devices", "jax", lambda: total(spread), jax.block_until_ready)


{"kernels": kernels, "programs": programs, "devices": devices, "compilation": compilation}[sys.argv[1]]()
