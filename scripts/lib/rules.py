"""What the structs of primitives say of derivatives and batches, read as text."""
import re

from headers import behind, declarations_in, is_type, tokens_of

# Operations that are one primitive, if their declarations do not name it.
MADE_OF = {
    "broadcast_to": "broadcast_in_dim", "concatenate": "concatenate", "dot": "dot_general", "dot_general": "dot_general",
    "expand_dims": "reshape", "floor": "floor", "gather": "gather", "matmul": "dot_general", "max": "reduce_max",
    "min": "reduce_min", "moveaxis": "transpose", "outer": "dot_general", "pad": "pad", "ravel": "reshape",
    "reshape": "reshape", "slice": "slice", "sort": "sort_by", "square": "integer_power", "squeeze": "reshape",
    "stack": "concatenate", "sum": "reduce_sum", "transpose": "transpose", "vdot": "dot_general", "where": "select",
    "all_gather": "all_gather", "all_to_all": "all_to_all", "pbroadcast": "pbroadcast", "pmax": "pmax", "pmin": "pmin",
    "scatter": "scatter", "scatter_add": "scatter", "scatter_max": "scatter", "scatter_min": "scatter", "scatter_mul": "scatter",
    "sort_key_val": "sort_by", "ppermute": "ppermute", "psum": "psum", "psum_scatter": "psum_scatter", "power": "power", "pow": "power",
}
# What the rule of a primitive refuses itself.
REFUSED = {"scatter_mul": "forward, and backward by the updates with `unique_indices` alone"}


class Primitives:
    def __init__(self, root):
        self.structs = {}  # by name: (the tokens of the bases, those of the body, its source)
        for path in sorted((root / "include/parallax/primitives").rglob("*.hpp")):
            source = path.read_text()
            for each in declarations_in(tokens_of(source)):
                if is_type(each.tokens) and "{" in each.tokens:
                    at = each.tokens.index("{")
                    self.structs[each.name] = (each.tokens[each.tokens.index(each.name) + 1:at], each.tokens[at:], source)

    def rule(self, name, which):
        """None if the primitive has it, "" if it does nothing, else why it is missing."""
        bases, body, source = self.structs[name]
        depth = 0
        for i, token in enumerate(body):
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth != 1 or token != which:
                continue
            if body[i + 1] == "{":
                return "" if body[i - 1] == "zero_rule" else body[i + 2].strip('"')
            if body[i + 1] == "=":
                return self.rule(name, body[i + 2])
            if body[i + 1] == "(":
                at = behind(body, i + 1)
                return "" if body[at:at + 2] == ["{", "}"] else None
        for base in bases:
            if base in self.structs:
                return self.rule(base, which)
        raise KeyError(f"{name} has no rule {which}")

    def line(self, name, text):
        """What the entry of an operation says, declared by `text`; None if that is no single primitive."""
        named = re.search(r"\b(?:unary|binary|cumulative_operation|position_operation)<primitives::(\w+)", text)
        primitive = named[1] if named else MADE_OF.get(name)
        if primitive is None:
            return None
        derivatives, batches = self.rule(primitive, "vjp"), self.rule(primitive, "batch")
        said = {None: "forward and backward", "": "0"}.get(derivatives, f"none ({derivatives})")
        said = REFUSED.get(name, said)
        return f"Derivatives: {said}. Batches: {'yes' if batches is None else f'no ({batches})'}. Backends: host, CUDA."
