"""The primitives that operations are made of, found in the sources of ops/ without a compiler.

What a function calls is followed by name, so that too much may be found where two functions share one, never too little:
but for the operators of C++, whose primitives all have rules (`Primitives` checks that).
"""
from collections import defaultdict

from headers import behind_specifiers, declarations_in, is_type, tokens_of

FOLDERS = ("ops/math", "ops/shapes", "ops/indexing", "ops/collectives", "ops/random", "primitives/building")


class Parts:
    def __init__(self, root, primitives):
        self.primitives = primitives
        self.bodies = defaultdict(list)  # by (whether in `build`, name): the tokens of each declaration
        self.types = set()
        for folder in FOLDERS:
            for path in sorted((root / "include/parallax" / folder).glob("*.hpp")):
                for each in declarations_in(tokens_of(path.read_text())):
                    # a name that is only declared first has no body to look into
                    if behind_specifiers(each.tokens) is not None and not each.namespace.endswith("primitives"):
                        self.bodies[each.namespace.endswith("build"), each.name].append(each.tokens)
                        if is_type(each.tokens):
                            self.types.add(each.name)

    def of(self, declarations):
        """The primitives that these declarations, lists of tokens, come to."""
        found, seen, waiting = set(), set(), [(False, tokens) for tokens in declarations]
        while waiting:
            in_build, tokens = waiting.pop()
            local = {tokens[i + 1] for i, token in enumerate(tokens[:-2]) if token == "auto" and tokens[i + 2] == "="}
            for i, token in enumerate(tokens):
                before = tokens[i - 2:i] if i > 1 else []
                if before == ["primitives", "::"] and token in self.primitives:
                    found.add(str(token))
                    continue
                if i > 0 and tokens[i - 1] in (".", "->", "struct", "class") or token in local:
                    continue
                if before[1:] == ["::"] and before[0] not in ("build", "detail"):
                    continue
                if tokens[i + 1:i + 2] not in (["("], ["<"], ["{"]) and token not in self.types:
                    continue
                is_build = before == ["build", "::"]
                for key in {(is_build, str(token)), (is_build or in_build, str(token))} & self.bodies.keys() - seen:
                    seen.add(key)
                    waiting += [(key[0], body) for body in self.bodies[key]]
        return found
