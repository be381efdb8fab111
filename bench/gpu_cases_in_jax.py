"""The cases of gpu_peer_cases.py in JAX, by jit."""
import math

import jax
import jax.numpy as np
import numpy

from gpu_peer_cases import BLOCK, block_of, host_times, labels_of, perceptron_of, shapes_of, wall_times


class Jax:
    """Each case under the name of who does it."""
    def __init__(self):
        jax.config.update("jax_default_matmul_precision", "highest")  # as PyTorch has it, and we

    def programs(self):
        def softmax(x):
            return jax.nn.softmax(x, 1)

        def cross_entropy(x, labels):
            return np.mean(jax.nn.logsumexp(x, 1, keepdims=True) - np.take_along_axis(x, labels[:, None], 1))

        def weighted(of):
            return lambda *x: np.sum(of(*x[:-1]) * x[-1])
        return {
            "2x + 1": lambda x: 2 * x + 1, "x + y": lambda x, y: x + y,
            "chain": lambda x, y: np.tanh(2 * x + y) * np.exp(-y) - x / (1 + y * y),
            "gelu": jax.nn.gelu, "transposed, and a sum": lambda x, y: x.T + y,
            "differences of neighbours": lambda x: x[:, 1:] - x[:, :-1],
            "sum of all": np.sum, "sums of rows": lambda x: np.sum(x, 1), "sums of columns": lambda x: np.sum(x, 0),
            "argmax of rows": lambda x: np.argmax(x, 1), "matrix by a vector": np.dot,
            "softmax": softmax, "layernorm": self.normalised, "cross-entropy": cross_entropy,
            "gradient of softmax": jax.grad(weighted(softmax)),
            "gradient of layernorm": jax.grad(weighted(self.normalised), (0, 1, 2)),
            "gradient of cross-entropy": jax.grad(cross_entropy),
        }

    def normalised(self, x, scale, shift):
        centred = x - np.mean(x, -1, keepdims=True)
        return centred * jax.lax.rsqrt(np.mean(np.square(centred), -1, keepdims=True) + 1e-5) * scale + shift

    def run(self, case):
        wait = jax.block_until_ready
        if case.kind in ("SGD", "Adam"):
            if case.kind == "SGD":
                yield "JAX", self.perceptron(case), None
            return
        if case.kind == "block":
            yield self.block()
            return
        keys = jax.random.split(jax.random.key(1), 4)
        arguments = [jax.random.uniform(key, shape, np.dtype(case.dtype), -1, 1) for key, shape in zip(keys, shapes_of(case))]
        if "cross-entropy" in case.kind:
            arguments.append(np.asarray(labels_of(numpy, case)))
        program = jax.jit(self.programs()[case.kind])
        yield "JAX", wall_times(lambda: program(*arguments), wait), None

    def perceptron(self, case):
        """Parameters are given away with each call."""
        params, x, targets = perceptron_of(numpy, case.columns)

        def loss(p, x, targets):
            h = jax.nn.relu(np.dot(x, p[0]) + p[1])
            h = jax.nn.relu(np.dot(h, p[2]) + p[3])
            logits = np.dot(h, p[4]) + p[5]
            return -np.mean(np.sum((logits - jax.nn.logsumexp(logits, 1, keepdims=True)) * targets, 1))

        def step(p, x, targets):
            return jax.tree.map(lambda a, g: a - 0.1 * g, p, jax.grad(loss)(p, x, targets))
        program = jax.jit(step, donate_argnums=0)
        x, targets, state = np.asarray(x), np.asarray(targets), [[np.asarray(p) for p in params]]

        def call():
            state[0] = program(state[0], x, targets)
            return state[0]
        times = wall_times(call, jax.block_until_ready)
        return host_times(call, lambda: jax.block_until_ready(state[0]), times.median * 1e-6) if case.host else times

    def block(self):
        params, x = block_of(numpy)
        batch, sequence, width, heads = BLOCK.values()

        def loss(p, x):
            def by_head(h, matrix):
                return np.dot(h, matrix).reshape(batch, sequence, heads, width // heads).transpose(0, 2, 1, 3)
            h = self.normalised(x, p["attention_scale"], p["attention_shift"])
            scores = np.matmul(by_head(h, p["query"]), by_head(h, p["key"]).transpose(0, 1, 3, 2))
            weights = jax.nn.softmax(scores / math.sqrt(width // heads), 3)
            joined = np.matmul(weights, by_head(h, p["value"])).transpose(0, 2, 1, 3).reshape(batch, sequence, width)
            seen = x + np.dot(joined, p["result"])
            h = jax.nn.gelu(np.dot(self.normalised(seen, p["mlp_scale"], p["mlp_shift"]), p["up"]) + p["up_bias"])
            return np.mean(np.square(seen + np.dot(h, p["down"]) + p["down_bias"]))
        with jax.default_matmul_precision("tensorfloat32"):
            program = jax.jit(jax.value_and_grad(loss, (0, 1)))
            params, x = jax.tree.map(np.asarray, (params, x))
            times = wall_times(lambda: program(params, x), jax.block_until_ready)
            return "JAX", times, float(np.mean(np.abs(program(params, x)[1][1])))
