"""What entries say of derivatives, batches and backends: the weakest of the primitives that an operation is made of.

docs/primitives.md, which a test makes of the compiled rules, says what each primitive has. Where a cotangent is 0, and what
backends there are, the structs of primitives and the folders of backends say, read as text.
"""
import re

from headers import behind, declarations_in, is_type, tokens_of
from parts import Parts

# Numbers and truth values by count or by comparison, whose parts may have derivatives that theirs are not.
WHOLE = {
    "all", "any", "arange", "argmax", "argmin", "argsort", "axis_index", "axis_size", "bitwise_and", "bitwise_not", "bitwise_or",
    "bitwise_xor", "broadcasted_iota", "equal", "greater", "greater_equal", "iota", "isfinite", "left_shift", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal", "one_hot", "right_shift", "searchsorted",
}
NO_MOTION = "none, as whole numbers and truth values do not move"
# What the primitives' rules do not tell of an operation.
SAID = {
    "bitcast": "none, as bits do not move",
    "floor": "0, as it is constant between its jumps",
    "astype": "forward and backward between floating types",
    "full_like": "forward and backward, by the value; of the array, its shape and type alone count",
    "full": "none, as constants do not move",
    "ones": "none, as constants do not move",
    "ones_like": "none, as constants do not move",
    "operators": "those of the functions that they call",
    "philox": "by `low` and `high` of `uniform` alone, as random bits are no numbers that move",
    "random": "by `low` and `high` of `uniform` alone, as random bits are no numbers that move",
    "scatter_mul": "forward, and backward by the updates with `unique_indices` alone",
    "sign": "0, as it is constant between its jumps",
    "sort_key_val": "forward and backward, in the order that the keys have",
    "stop_gradient": "0, which is what it is for",
    "top_k": "forward and backward of the elements; positions do not move",
    "zeros": "none, as constants do not move",
    "zeros_like": "none, as constants do not move",
}
# Primitives of which indices are made, which do not move: the operations on them have derivatives all the same.
OF_INDICES = {"ops/indexing/": {"shift_right"}, "ops/random/": {
    "bitwise_and", "bitwise_or", "shift_left", "shift_right", "wide_remainder", "philox4x32", "threefry2x32"}}
# The primitives of operators between traced arrays, which `Parts` does not see.
OF_OPERATORS = {"add", "subtract", "multiply", "divide", "negative"}
# Functions that are a call of a program, by the call's name in docs/primitives.md.
CALLS = {
    "bicgstab": "linear_solve", "cg": "linear_solve", "checkpoint": "checkpoint", "checkpoint_name": "name", "cond": "cond",
    "custom_linear_solve": "linear_solve", "gmres": "linear_solve", "map": "scan", "pmap": "pmap", "pvary": "select",
    "ravel_pytree": "concatenate", "scan": "scan",
    "shard_map": "pmap", "switch_": "cond", "while_loop": "while",
}
# Calls whose rules are their user's.
OF_USERS = {
    "checkpointed_scan": "Derivatives: forward; backward once, and forward over backward. Batches: yes. Backends: host, CUDA.",
    "custom_call": "Derivatives: by its rules `vjp` and `jvp`, and none without them. Batches: by its rule `batch`, else one after "
                   "another. Backends: those that it has a function for.",
    "custom_jvp": "Derivatives: forward by the rule, backward by the rule transposed. Batches: yes. Backends: host, CUDA.",
    "custom_root": "Derivatives: forward and backward, by the equation and not by the solver. Batches: yes. Backends: host, CUDA.",
    "custom_vjp": "Derivatives: backward by the rules, none forward. Batches: yes. Backends: host, CUDA.",
    "fori_loop": "Derivatives: forward; backward too where the number of rounds is known while compiling or by `count`. Batches: yes. "
                 "Backends: host, CUDA.",
}
OF_FUNCTIONS = "Derivatives, batches, backends: those of the function."
TRANSFORMS = {"associative_scan", "grad", "hessian", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "linear_transpose", "linearize",
              "partial", "value_and_grad", "vjp", "vmap"}
# The word by which a backend's folder shows that it runs a kind of primitives which have no `evaluate`.
WORDS = {"source": "load_constant", "view": "load_strided", "gather": "gather_statement", "scatter": "kernel_result::scattered",
         "sorting": "kernel_result::sorted", "product": "step_kind::product", "assembly": "kernel_result::strided",
         "reduction": "position", "call": "step_kind::mapped_section"}
BACKENDS = {"host": "host", "cuda": "CUDA"}


class Primitives:
    def __init__(self, root):
        self.structs = {}  # by name: (the tokens of the bases, those of the body)
        for path in sorted((root / "include/parallax/primitives").rglob("*.hpp")):
            for each in declarations_in(tokens_of(path.read_text())):
                if is_type(each.tokens) and "{" in each.tokens:
                    at = each.tokens.index("{")
                    self.structs[each.name] = (each.tokens[each.tokens.index(each.name) + 1:at], each.tokens[at:])
        rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \| (.*) \| (.*) \|$", (root / "docs/primitives.md").read_text(), re.M)
        self.said = {name: said for name, *said in rows}  # kind, backward, forward, batches
        of_names = {}
        for name in self.structs:
            printed = self.printed(name)
            if printed in self.said:
                of_names[name] = printed
        self.names = of_names
        self.parts = Parts(root, of_names)
        self.folders = {folder: "".join(path.read_text() for path in sorted((root / "include/parallax" / folder).rglob("*.hpp")))
                        for folder in BACKENDS}

    def member(self, name, which):
        """The tokens of a struct from a member's name on, or those of its base; None if there is none."""
        bases, body = self.structs[name]
        depth = 0
        for i, token in enumerate(body):
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 1 and token == which:
                return body[i:]
        return next((found for base in bases if base in self.structs and (found := self.member(base, which))), None)

    def printed(self, name):
        tokens = self.member(name, "name")
        return tokens[2].strip('"') if tokens and tokens[1] == "=" else None

    def is_constant(self, name):
        """Whether the rule for cotangents gives none."""
        return self.said[self.names[name]][1] == "zero"

    def backends(self, name):
        kind = self.said[self.names[name]][0]
        evaluate = self.member(name, "evaluate")
        if kind == "collective":
            word = " ".join(self.member(name, "exchange")[2:5]).replace(" ", "")
        elif evaluate and evaluate[1] == "(":
            return {"host", "cuda"} if self.on_devices(name) else {"host"}
        else:
            word = WORDS[kind]
        return {folder for folder, text in self.folders.items() if word in text}

    def on_devices(self, name):
        bases, body = self.structs[name]
        if "evaluate" in body:
            return "PARALLAX_HD" in body[:body.index("evaluate")]
        return any(base in self.structs and self.on_devices(base) for base in bases)

    def line(self, name, declared, header):
        """What the entry of an operation says; None if nothing is known, which is an error. `declared` are its tokens."""
        if name in OF_USERS:
            return OF_USERS[name]
        if name in TRANSFORMS:
            return OF_FUNCTIONS
        if name in CALLS:
            _, backward, forward, batches = self.said[CALLS[name]]
            return self.told(backward, forward, [batches], {"host", "cuda"})
        if "/ops/" not in header:
            return None
        parts = self.parts.of(declared)
        moving = sorted(part for part in parts | OF_OPERATORS if self.said[self.names[part]][0] != "source")
        aside = {each for folder, names in OF_INDICES.items() if folder in header for each in names}
        lacking = [self.said[self.names[part]] for part in moving if part not in aside]
        batches = [self.said[self.names[part]][3] for part in moving]
        backward = next((said[1] for said in lacking if said[1].startswith("no:")), "yes")
        forward = next((said[2] for said in lacking if said[2].startswith("no:")), "yes")
        backends = set(BACKENDS).intersection(*(self.backends(part) for part in moving))
        derivatives = NO_MOTION if name in WHOLE else SAID.get(name)
        if derivatives is None and name in parts and self.is_constant(name):
            return None  # SAID has to say why
        return self.told(backward, forward, batches, backends, derivatives)

    @staticmethod
    def told(backward, forward, batches, backends, derivatives=None):
        lack = {"backward": backward, "forward": forward}
        missing = {way: said.removeprefix("no: ") for way, said in lack.items() if said.startswith("no: ")}
        if derivatives is None:
            there = [way for way in ("forward", "backward") if way not in missing]
            derivatives = " and ".join(there) or f"none ({missing['backward']})"
            if len(there) == 1:
                other = next(iter(missing))
                derivatives += f"; {other} none ({missing[other]})"
        none = next((said.removeprefix("no: ") for said in batches if said.startswith("no: ")), None)
        places = ", ".join(text for folder, text in BACKENDS.items() if folder in backends)
        return f"Derivatives: {derivatives}. Batches: {'yes' if none is None else f'no ({none})'}. Backends: {places}."
