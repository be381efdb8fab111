"""The entries of the reference: what a public name's headers and example say of it, as Markdown."""
import re
from collections import defaultdict
from typing import NamedTuple

from forms import forms_of, shown, text_of
from headers import declarations_in, end_of_declaration, is_type, name_of, tokens_of
from rules import Primitives

PUBLIC = ("parallax", "parallax::optim", "parallax::distributed", "parallax::precision", "parallax::mode")
# What `distributed` has for itself.
NOT_PUBLIC = {("parallax::distributed", name) for name in ("environment_reader", "find_launch", "launch", "process_environment")}
# Functions of transforms/ that are numbers, or names of axes.
PLAIN = {"along", "checkpoint_repeats", "count"}


class Said(NamedTuple):
    """One declaration of a name: where it stands, its text, and its comment."""
    header: str
    text: str
    comment: str
    tokens: list


class Headers:
    def __init__(self, root):
        self.primitives = Primitives(root)
        self.types = {}  # by name: the tokens and the source of each class
        self.names = defaultdict(list)  # by (namespace, name)
        for path in sorted((root / "include/parallax").rglob("*.hpp")):
            source = path.read_text()
            header = str(path.relative_to(root / "include"))
            for each in declarations_in(tokens_of(source)):
                if is_type(each.tokens) and "{" in each.tokens and each.namespace.removesuffix("::detail") in PUBLIC:
                    self.types.setdefault(each.name, (each.tokens, source))
                if each.namespace in PUBLIC and (each.namespace, each.name) not in NOT_PUBLIC:
                    comment = each.tokens[0].comment
                    before = self.names.get((each.namespace, each.name), [])
                    if not comment and before and before[-1].header == header:
                        comment = before[-1].comment
                    said = Said(header, text_of(source, each.tokens), comment, each.tokens)
                    name = "operators" if each.name.startswith("operator") else each.name
                    if name != "operators" or header == "parallax/ops/math/operators.hpp":
                        self.names[each.namespace, name].append(said)

    def members_of(self, name, seen=()):
        """The public members of a class and of its bases that have a comment or are calls: (name, text, comment). An overload
        without a comment has that of the one before it."""
        if name in seen or name not in self.types:
            return []
        tokens, source = self.types[name]
        at = tokens.index("{", tokens.index(name))
        bases = [token for token in tokens[tokens.index(name):at] if token in self.types and token != name]
        is_public = tokens[tokens.index(name) - 1] != "class"
        is_record = is_public and "operator" not in tokens and self.is_alone(name)
        members, at = [], at + 1
        while at < len(tokens) and tokens[at] != "}":
            if tokens[at] in ("public", "private", "protected") and tokens[at + 1] == ":":
                is_public = tokens[at] == "public"
                at += 2
                continue
            end = end_of_declaration(tokens, at)
            member = tokens[at:end]
            at = max(end, at + 1)
            called = name_of(member)
            comment = member[0].comment or member[-1].trailing
            is_field = is_record and ";" in member and "(" not in member and member[0] not in ("static", "using", "friend", "[")
            if not is_public or called is None or member[0] in ("using", "friend"):
                continue
            if not comment and members and members[-1][0] == called and not name.endswith("_operation"):
                comment = members[-1][2]
            if comment or is_field or called in ("operator()", "apply"):
                members.append((called, text_of(source, member), comment))
        for base in bases:
            members += [each for each in self.members_of(base, (*seen, name)) if each not in members]
        return members

    def is_alone(self, name):
        """Whether a class has an entry, so that its members stand nowhere else."""
        return any((namespace, name) in self.names for namespace in PUBLIC)

    def shapes_of(self, name, seen=()):
        """What the comment of a class, or of one of its bases, says of shapes and errors."""
        if name in seen or name not in self.types:
            return ""
        tokens = self.types[name][0]
        found = re.search(r"Shapes: .*", " ".join(tokens[0].comment.split()))
        if found:
            return found[0]
        bases = tokens[tokens.index(name):tokens.index("{", tokens.index(name))]
        return next((said for base in bases if base != name and (said := self.shapes_of(base, (*seen, name)))), "")


def paragraphs(comment):
    """A comment as Markdown: what JAX calls it stands in a line of its own."""
    text, *source = re.split(r" ?\b(JAX|NumPy|optax|SciPy): ", " ".join(comment.split()), maxsplit=1)
    text = re.sub(r" ?\b(Shapes|Errors): ", r"\n\n\1: ", text).strip()
    if not source:
        return text
    of, told = source
    names = re.match(r"[\w.]+(=[\w']+)?(\(\))?(, \w+\.[\w.]+)*(?=$|[ ,;.])", told)
    if names is None or (" " in told and not re.search(r"[._=]", names[0].rstrip("."))):
        return f"{text}\n\n{of}: {told}".strip()
    shown_names, rest = names[0].rstrip("."), told[len(names[0].rstrip(".")):]
    listed = ", ".join(f"`{each}`" for each in shown_names.split(", "))
    return f"{text}\n\n{of}: {listed}{'' if rest == '.' else rest}".strip()


def with_sources_last(told):
    """Paragraphs, those of which say what JAX and others call it once, at the end."""
    all_of = [each for each in dict.fromkeys(told.split("\n\n")) if each.strip()]
    return "\n\n".join(sorted(all_of, key=lambda each: re.match(r"(JAX|NumPy|optax|SciPy): ", each) is not None))


def example_of(name, example):
    """The code of an example and what it prints, or the name whose entry has it."""
    if example is None:
        return []
    if name != example.names[0]:
        return [f"Example: see {{{example.names[0]}}}.", ""]
    language = "cuda" if example.path.endswith(".cu") else "cpp"
    return [f"```{language}", example.page_code, "```", "", "```text", example.output.rstrip(), "```", ""]


def table_of(name, rows):
    """Members, those of one comment in one row."""
    by_comment = defaultdict(list)
    for text, comment in rows:
        is_internal = re.match(r"detail::(?!axis_list)\w+ \w+( =|$)", text)
        if not is_internal and (form := shown(text)) is not None and form not in by_comment[comment]:
            by_comment[comment].append(form)
    lines = ["| member |  |", "|---|---|"]
    for comment, forms in by_comment.items():
        if forms:
            cell = paragraphs(comment).replace("\n\n", " ").replace("|", "\\|")
            told = "<br>".join(f"`{form.replace('|', chr(92) + '|')}`" for form in forms)
            lines.append(f"| {told} | {cell} |")
    return [*lines, ""] if len(lines) > 2 else []


def enumerators_of(tokens):
    """The enumerators of which something is said, with that."""
    inside = tokens[tokens.index("{") + 1:]
    ends = [i for i, token in enumerate(inside) if token in (",", "}")]
    told = [(inside[i - 1], inside[i].trailing or inside[i - 1].trailing) for i in ends]
    return [each for each in told if each[1]]


def member_of(name, of, called, text):
    """A member of the class `of`, as one of its alias `name`."""
    return re.sub(rf"\b{called}\(", f"{name}(" if called == of else f"{name}::{called}(", text, count=1)


def operator_form(text):
    symbol, arguments = re.search(r"operator(\S+?)\((.*)\)", text).groups()
    return f"array a {symbol} array b" if "," in arguments else f"{symbol}array a"


class Entry(NamedTuple):
    text: str
    has_signature: bool
    has_rules: bool
    lacks: list  # of what an operation's entry has to say
    is_operation: bool


def entry_of(headers, name, declared, example):
    """The Markdown of one name, and what is in it."""
    lines = [f"## `{name}`", ""]
    told = "\n\n".join(paragraphs(comment) for comment in dict.fromkeys(said.comment for said in declared if said.comment))
    head = declared[0].tokens
    at = next((i for i, token in enumerate(head) if token == name and head[i - 1] != "::" or token == ";"), 0)
    behind_name = (*head[at + 1:at + 2], "")[0]
    is_alias = head[0] == "using"
    is_object = not is_alias and behind_name in ("{", "=", ";") and not is_type(head)
    types = head[at + 1:] if is_alias else head[:at]
    of = name if is_type(head) else next((token for token in types if token in headers.types and (is_object or is_alias)), None)
    members = headers.members_of(of) if of else []
    if of != name and "Shapes: " not in told:
        told += "\n\n" + paragraphs(headers.shapes_of(of))
    lines += [with_sources_last(told), "", *example]
    forms = forms_of(name, members) if is_object else {}
    if name == "operators":
        forms = dict.fromkeys(operator_form(said.text) for said in declared)
    if forms:
        notes = {form: " ".join(comment.split()) for form, comment in forms.items() if comment and len(comment) < 80}
        lines += ["```text", *(f"{form}  // {notes[form]}" if form in notes else form for form in forms), "```", ""]
        members = []
    prototypes = [] if forms else [text for said in declared if (text := shown(said.text)) is not None]
    if prototypes:
        lines += ["```cpp", *dict.fromkeys(prototypes), "```", ""]
    rows = [(member_of(name, of, called, text) if is_alias else text, comment)
            for called, text, comment in members if called != "apply"]
    if head[0] == "enum":
        rows = enumerators_of(head)
    lines += table_of(name, rows)
    header = declared[0].header
    is_call = bool(forms) or (not is_type(head) and not is_alias and not is_object) or name in ("random", "philox")
    rules = headers.primitives.line(name, [said.tokens for said in declared], header) if is_call else None
    lines += [rules, ""] if rules else []
    users = [said for said in declared if shown(said.text) is not None] or declared
    places = " and ".join(dict.fromkeys(f"`{said.header}`" for said in users))
    text = "\n".join([*lines, f"In {places}.", ""])
    is_operation = is_call and name not in PLAIN and re.search("/(ops|transforms)/", header) is not None
    lacks = [what for what in ("Shapes: ", "Errors: ") if f"\n{what}" not in text]
    lacks += [] if re.search(r"(JAX|NumPy)(:|'s) ", text) else ["JAX: "]
    return Entry(text, bool(forms or prototypes), bool(rules), lacks, is_operation)
