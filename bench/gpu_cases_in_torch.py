"""The cases of gpu_peer_cases.py in PyTorch: call by call, compiled, and as CUDA graphs."""
import numpy
import torch
import torch._dynamo
import torch.nn.functional as f

from gpu_peer_cases import BLOCK, block_of, host_times, labels_of, perceptron_of, shapes_of, times_of


class Torch:
    """Each case under one or several names of who does it."""
    def __init__(self):
        torch.manual_seed(1)
        torch._dynamo.config.cache_size_limit = 64

    def sampled(self, call):
        """By CUDA's events, one behind each sample, without waiting between them."""
        cuda = torch.cuda

        def seconds(runs, samples):
            marks = [cuda.Event(enable_timing=True) for _ in range(samples + 1)]
            call()
            marks[0].record()
            for mark in marks[1:]:
                for _ in range(runs):
                    call()
                mark.record()
            cuda.synchronize()
            return [a.elapsed_time(b) * 1e-3 / runs for a, b in zip(marks, marks[1:])]
        for _ in range(3):
            call()
        cuda.synchronize()
        once = seconds(1, 1)[0]
        runs = int(min(max(1e-3 / once, 1), 1000))
        return once, times_of(seconds(runs, int(min(max(0.15 / (once * runs), 5), 30))))

    def programs(self):
        def softmax(x):
            return f.softmax(x, 1)

        def layernorm(x, scale, shift):
            return f.layer_norm(x, x.shape[1:], scale, shift, 1e-5)

        def weighted(of):
            return lambda *x: torch.sum(of(*x[:-1]) * x[-1])
        return {
            "2x + 1": lambda x: 2 * x + 1, "x + y": lambda x, y: x + y,
            "chain": lambda x, y: torch.tanh(2 * x + y) * torch.exp(-y) - x / (1 + y * y),
            "gelu": lambda x: f.gelu(x, approximate="tanh"), "transposed, and a sum": lambda x, y: x.T + y,
            "differences of neighbours": lambda x: x[:, 1:] - x[:, :-1],
            "sum of all": torch.sum, "sums of rows": lambda x: torch.sum(x, 1), "sums of columns": lambda x: torch.sum(x, 0),
            "argmax of rows": lambda x: torch.argmax(x, 1), "matrix by a vector": torch.mv,
            "softmax": softmax, "layernorm": layernorm, "cross-entropy": f.cross_entropy,
            "gradient of softmax": torch.func.grad(weighted(softmax)),
            "gradient of layernorm": torch.func.grad(weighted(layernorm), (0, 1, 2)),
            "gradient of cross-entropy": torch.func.grad(f.cross_entropy),
        }

    def run(self, case):
        if case.kind in ("SGD", "Adam"):
            replay = self.perceptron(case)
            once, times = self.sampled(replay)
            yield "PyTorch's CUDA graph", host_times(replay, torch.cuda.synchronize, once) if case.host else times, None
            return
        if case.kind == "block":
            yield from self.block()
            return
        dtype = getattr(torch, case.dtype)
        arguments = [(torch.rand(shape, device="cuda") * 2 - 1).to(dtype) for shape in shapes_of(case)]
        if "cross-entropy" in case.kind:
            arguments.append(torch.from_numpy(labels_of(numpy, case)).long().cuda())
        program = self.programs()[case.kind]
        if not case.kind.startswith("gradient"):
            yield "PyTorch", self.sampled(lambda: program(*arguments))[1], None
        compiled = torch.compile(program, dynamic=False)
        yield "torch.compile", self.sampled(lambda: compiled(*arguments))[1], None

    def perceptron(self, case):
        """A step as a CUDA graph; what replays it."""
        params, x, targets = perceptron_of(numpy, case.columns)
        params = [torch.from_numpy(p).cuda().requires_grad_() for p in params]
        x, targets = torch.from_numpy(x).cuda(), torch.from_numpy(targets).cuda()
        optimiser = (torch.optim.SGD(params, 0.1, fused=True) if case.kind == "SGD" else
                     torch.optim.Adam(params, 1e-3, capturable=True, fused=True))

        def step():
            h = f.relu(torch.addmm(params[1], x, params[0]))
            h = f.relu(torch.addmm(params[3], h, params[2]))
            loss = f.cross_entropy(torch.addmm(params[5], h, params[4]), targets)
            for p, g in zip(params, torch.autograd.grad(loss, params)):
                p.grad = g
            optimiser.step()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return graph.replay

    def block(self):
        torch.set_float32_matmul_precision("high")
        try:
            yield from self.block_in_tf32()
        finally:
            torch.set_float32_matmul_precision("highest")

    def block_in_tf32(self):
        params, x = block_of(numpy)
        params = {name: torch.from_numpy(p).cuda().requires_grad_() for name, p in params.items()}
        x = torch.from_numpy(x).cuda().requires_grad_()
        batch, sequence, width, heads = BLOCK.values()

        def loss(p, x):
            def by_head(h, matrix):
                return (h @ matrix).view(batch, sequence, heads, width // heads).transpose(1, 2)
            h = f.layer_norm(x, (width,), p["attention_scale"], p["attention_shift"], 1e-5)
            seen = f.scaled_dot_product_attention(by_head(h, p["query"]), by_head(h, p["key"]), by_head(h, p["value"]))
            seen = x + seen.transpose(1, 2).reshape(batch, sequence, width) @ p["result"]
            h = f.layer_norm(seen, (width,), p["mlp_scale"], p["mlp_shift"], 1e-5)
            h = f.gelu(h @ p["up"] + p["up_bias"], approximate="tanh")
            return torch.mean(torch.square(seen + h @ p["down"] + p["down_bias"]))
        for who, program in (("PyTorch", loss), ("torch.compile", torch.compile(loss, dynamic=False))):
            def call(program=program):
                return torch.autograd.grad(program(params, x), [*params.values(), x])
            times = self.sampled(call)[1]
            yield who, times, float(call()[-1].abs().mean())
