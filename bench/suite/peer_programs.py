"""The families of cases that are whole programs, in JAX and PyTorch."""
import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax import lax
from peer_arrays import layernorm, torch_layernorm
from peer_timing import in_jax, in_numpy, in_torch, measure, waves


def weight(shape, phase):
    return waves(shape, phase) * np.float32(0.05)


def perceptron(batch):
    weights = (weight((784, 256), 0), waves((256,), 1), weight((256, 256), 2), waves((256,), 3), weight((256, 10), 4),
               waves((10,), 5))
    return weights, waves((batch, 784), 6), np.array(jax.nn.softmax(waves((batch, 10), 7), 1))


def loss(weights, x, target):
    w1, b1, w2, b2, w3, b3 = weights
    h = jnp.tanh(x @ w1 + b1)
    h = jnp.tanh(h @ w2 + b2)
    scores = h @ w3 + b3
    return -jnp.mean(jnp.sum(target * (scores - jax.nn.logsumexp(scores, 1, keepdims=True)), 1))


def training_step(weights, x, target):
    return jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, x, target))


def torch_loss(weights, x, target):
    w1, b1, w2, b2, w3, b3 = weights
    h = torch.tanh(torch.addmm(b1, x, w1))
    h = torch.tanh(torch.addmm(b2, h, w2))
    scores = torch.addmm(b3, h, w3)
    return -(target * torch.log_softmax(scores, 1)).sum(1).mean()


def torch_training_step(weights, x, target):
    return [w - 0.1 * g for w, g in zip(weights, torch.func.grad(torch_loss)(weights, x, target))]


def block(weights, x):
    query, key, value, out, up, down = weights
    h = layernorm(x)
    scores = (h @ query) @ (h @ key).T * 0.125
    y = x + jax.nn.softmax(scores, 1) @ (h @ value) @ out
    return y + jax.nn.gelu(layernorm(y) @ up) @ down


def torch_block(weights, x):
    query, key, value, out, up, down = weights
    h = torch_layernorm(x)
    scores = (h @ query) @ (h @ key).T * 0.125
    y = x + torch.softmax(scores, 1) @ (h @ value) @ out
    return y + torch.nn.functional.gelu(torch_layernorm(y) @ up, approximate="tanh") @ down


def training():
    for batch in (1, 32, 256, 2048):
        arguments = perceptron(batch)
        in_jax(f"perceptron {batch}", loss, *arguments)
        in_torch(f"perceptron {batch}", torch_loss, *arguments, compiled=True)
        in_jax(f"perceptron step {batch}", training_step, *arguments)
        in_torch(f"perceptron step {batch}", torch_training_step, *arguments, compiled=True)
    for n in (64, 256):
        weights = [weight((n, n), k) for k in range(4)] + [weight((n, 4 * n), 4), weight((4 * n, n), 5)]
        arguments = weights, waves((n, n), 6)
        name = f"transformer block {n}"
        in_jax(name, block, *arguments)
        in_torch(name, torch_block, *arguments, compiled=True)
        in_jax(name + ", gradient", jax.grad(lambda w, x: jnp.mean(jnp.square(block(w, x)))), *arguments)
        in_torch(name + ", gradient", torch.func.grad(lambda w, x: torch_block(w, x).square().mean()), *arguments,
                 compiled=True)


def chain(first, matrices):
    return lax.scan(lambda p, m: (m @ p, None), first, matrices)[0]


def recurrence(w, inputs, state):
    return lax.scan(lambda h, x: (jnp.tanh(w @ h + x), None), state, inputs)[0].sum()


def torch_recurrence(w, inputs, state):
    for x in inputs:
        state = torch.tanh(torch.mv(w, state) + x)
    return state.sum()


def repeated(x):
    for _ in range(33):
        x = jnp.sin(x) * x + 0.5
    return x


def torch_repeated(x):
    for _ in range(33):
        x = torch.sin(x) * x + 0.5
    return x.sum()


def loops():
    with jax.enable_x64(True):
        matrices = waves((1000, 3, 3), 0).astype(np.float64) * 0.01 + np.eye(3)
        in_jax("1000 products 3x3", chain, np.eye(3), matrices)
        in_jax("1000 products 3x3, gradient", jax.grad(lambda first, m: chain(first, m).sum(), 1), np.eye(3), matrices)
    for n in (16, 64):
        case = f"recurrence of 64 steps, {n}, gradient"
        arguments = waves((n, n), 0) * np.float32(0.1), waves((64, n), 1), waves((n,), 2)
        in_jax(case, jax.grad(recurrence), *arguments)
        in_torch(case, torch.func.grad(torch_recurrence), *arguments)
    in_jax("gradient of 100 scalar operations", jax.grad(repeated), np.float32(0.3))
    in_torch("gradient of 100 scalar operations", torch.func.grad(torch_repeated), np.full((), 0.3, np.float32))
    xs = waves((1024,), 0)
    in_jax("1024 gradients of 100 scalar operations", jax.vmap(jax.grad(repeated)), xs)
    in_torch("1024 gradients of 100 scalar operations", torch.func.grad(torch_repeated), xs)


def random():
    count = 1 << 22
    key = jax.random.key(0)
    generator = np.random.default_rng(0)
    for case, of_jax, of_torch, of_numpy in (
            ("normal 2^22", jax.random.normal, torch.randn, generator.standard_normal),
            ("uniform 2^22", jax.random.uniform, torch.rand, generator.random)):
        draw = jax.jit(lambda k: of_jax(k, (count,)))
        measure(case, "jax", lambda: jax.block_until_ready(draw(key)))
        measure(case, "pytorch", lambda: of_torch(count))
        in_numpy(case, lambda: of_numpy(count, np.float32))


def devices():
    total = jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")
    spread_out = jax.pmap(lambda x: x * 1)
    for count in (2, 8):
        few = spread_out(waves((count, 16), 0))
        plus_one = jax.pmap(lambda x: x + 1)
        measure(f"pmap x + 1, {count} devices", "jax", lambda: jax.block_until_ready(plus_one(few)))
        for size, name in ((1, "4 B"), (1 << 10, "4 KB"), (1 << 20, "4 MB")):
            spread = spread_out(waves((count, size), 0))
            measure(f"psum of {name}, {count} devices", "jax", lambda: jax.block_until_ready(total(spread)))
