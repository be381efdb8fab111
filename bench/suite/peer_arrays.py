"""The families of cases that are one operation each, in NumPy, JAX and PyTorch."""
import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax import lax
from peer_timing import in_jax, in_numpy, in_torch, waves


def everywhere(case, function, *arguments):
    """What all three spell alike."""
    for peer in (in_numpy, in_jax, in_torch):
        peer(case, function, *arguments)


def elementwise():
    for n in (256, 4096, 1 << 16, 1 << 20, 1 << 22, 1 << 25):
        def chain(a, b, c):
            return a * b + c * 2 - b
        arguments = [waves((n,), k) for k in range(3)]
        in_jax(f"chain {n}", chain, *arguments)
        in_torch(f"chain {n}", chain, *arguments, compiled=True)
    for n in (1024, 4096):
        everywhere(f"transposed sum {n}", lambda a, b: a.T + b, waves((n, n), 0), waves((n, n), 1))
    everywhere("row broadcast", lambda a, b: a + b, waves((4096, 1024), 0), waves((1024,), 1))
    in_jax("x + 1", lambda a: a + 1, np.float32(1))
    in_torch("x + 1", lambda a: a + 1, np.ones((), np.float32))


def functions():
    count = 1 << 20
    for name, of_jax, of_torch, of_numpy in (
            ("exp", jnp.exp, torch.exp, np.exp), ("tanh", jnp.tanh, torch.tanh, np.tanh),
            ("log", lambda a: jnp.log(a + 2), lambda a: torch.log(a + 2), lambda a: np.log(a + a.dtype.type(2))),
            ("sin", jnp.sin, torch.sin, np.sin), ("erf", jax.scipy.special.erf, torch.erf, None),
            ("logistic", jax.nn.sigmoid, torch.sigmoid, None)):
        for case, element in ((name, np.float32), (name + " f64", np.float64)):
            x = waves((count,), 0, element)
            with jax.enable_x64(element is np.float64):
                in_jax(case, of_jax, x)
            in_torch(case, of_torch, x)
            if of_numpy is not None:
                in_numpy(case, of_numpy, x)
    x = waves((count,), 0)
    in_jax("tanh times exp", lambda a: jnp.tanh(a) * jnp.exp(a), x)
    in_torch("tanh times exp", lambda a: torch.tanh(a) * torch.exp(a), x, compiled=True)


def layernorm(x):
    centred = x - x.mean(1, keepdims=True)
    return centred * lax.rsqrt(jnp.mean(jnp.square(centred), 1, keepdims=True) + 1e-5)


def torch_layernorm(x):
    return torch.nn.functional.layer_norm(x, x.shape[1:], eps=1e-5)


def torch_gradient(function):
    return torch.func.grad(lambda x, weight: (function(x) * weight).sum())


def rows():
    for shape in ((128, 128), (4096, 1024), (1 << 18, 64)):
        size = f" {shape[0]}x{shape[1]}"
        x, weight = waves(shape, 0), waves(shape, 1)
        everywhere("sum all" + size, lambda a: a.sum(), x)
        everywhere("sum rows" + size, lambda a: a.sum(1), x)
        everywhere("sum columns" + size, lambda a: a.sum(0), x)
        everywhere("max all" + size, lambda a: a.max(), x)
        for name, axis in (("max rows", 1), ("max columns", 0)):
            in_numpy(name + size, lambda a: a.max(axis), x)
            in_jax(name + size, lambda a: a.max(axis), x)
            in_torch(name + size, lambda a: a.amax(axis), x)
        everywhere("argmax rows" + size, lambda a: a.argmax(1), x)
        in_jax("softmax" + size, lambda a: jax.nn.softmax(a, 1), x)
        in_torch("softmax" + size, lambda a: torch.softmax(a, 1), x, compiled=True)
        in_jax("logsumexp" + size, lambda a: jax.nn.logsumexp(a, 1), x)
        in_torch("logsumexp" + size, lambda a: torch.logsumexp(a, 1), x, compiled=True)
        in_jax("layernorm" + size, layernorm, x)
        in_torch("layernorm" + size, torch_layernorm, x, compiled=True)
        for name, of_jax, of_torch in (("softmax", lambda a: jax.nn.softmax(a, 1), lambda a: torch.softmax(a, 1)),
                                       ("layernorm", layernorm, torch_layernorm)):
            case = name + size + ", gradient"
            in_jax(case, jax.grad(lambda a, w: (of_jax(a) * w).sum()), x, weight)
            in_torch(case, torch_gradient(of_torch), x, weight, compiled=True)


def products():
    def product(case, *shapes):
        everywhere(case, lambda a, b: a @ b, *(waves(shape, phase) for phase, shape in enumerate(shapes)))
    for n in (8, 16, 32, 64, 128, 256, 1024):
        product(f"matmul {n}", (n, n), (n, n))
    for rows, depth, columns in ((100000, 16, 16), (32, 8192, 1024), (8192, 32, 1024), (32, 65536, 32)):
        product(f"matmul {rows}x{depth}x{columns}", (rows, depth), (depth, columns))
    for n in (64, 256, 1024, 4096):
        product(f"matrix times vector {n}", (n, n), (n,))
    everywhere("256 vectors, matrix of 256", lambda a, v: v @ a.T, waves((256, 256), 0), waves((256, 256), 1))
    for batch, n in ((1024, 4), (1024, 8), (1024, 16), (256, 32)):
        product(f"{batch} products {n}x{n}", (batch, n, n), (batch, n, n))
    x, y = (waves((4096, 64), phase) for phase in range(2))
    in_jax("4096 dots of 64", jax.vmap(jnp.dot), x, y)
    in_numpy("4096 dots of 64", lambda a, b: np.einsum("ij,ij->i", a, b), x, y)
    in_torch("4096 dots of 64", lambda a, b: torch.linalg.vecdot(a, b), x, y)
