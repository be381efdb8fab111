"""Signatures as entries of the reference show them: without what is internal."""
import re

from headers import behind, behind_specifiers, is_type, tokens_of

HIDDEN = {"constexpr", "inline", "static", "PARALLAX_HD", "PARALLAX_INLINE", "PARALLAX_RUNTIME_FUNCTION"}
# Overloads that only refuse, or that are another one for an empty list.
REFUSING = re.compile(r"noexcept\((detail::)?refuse|std::same_as<tracer> (auto|X\b)|\bno_extents\b"
                      r"|requires detail::is_transformed<F> array|auto jvp\(Function, | = delete$|\) -> \w+<")
INTERNAL = re.compile(r"\b(detail|runtime|processes|compiled)::")
# Internal types, and what users write in their place.
WRITTEN = {
    r"detail::fixed_string": "string",
    r"detail::any_axis": "int",
    r"detail::axis_list": "{ints...}",
    r"detail::product_precision (?=\w)": "auto ",
    r"detail::plain_span<const int>": "{ints...}",
    r"detail::nested_list_t<T, rank>": "{...}",
    r"detail::literal<T>": "T",
    r"detail::exchange_kind": "exchange_kind",
    r"std::remove_cvref_t<(\w+)>": r"\1",
}
KINDS = [  # of parameters of operations: a pattern of the type, and what users write; None: the form is not for users
    (r"context", ""), (r"type_tag<.*>", ""), (r"std::same_as<tracer>auto|no_extents|bound_list|stride_list|list", None),
    (r"keepdims_t", "keepdims"), (r"Keep", "[keepdims]"), (r"in_reverse_t", "in_reverse"), (r"right_side_t", "right_side"),
    (r"unique_indices_t", "unique_indices"), (r"index_mode_t<.*>", "mode"), (r"precision_t<.*>", "precision"),
    (r"axis_t<(.*)>", r"axis<\1>"),
    (r"extent_list<.*>|extent\[.*\]|std::initializer_list<extent>", "{extents...} "),
    (r"axis_number_typeauto|any_axis|std::integralauto|int", "int "),
    (r"axis_list|std::initializer_list<(int|std::int64_t)>", "{ints...} "),
    (r"std::initializer_list<padding>", "{{low, high, interior}...} "),
    (r"std::initializer_list<tracer>|list_entry\[.*\]", "{arrays...} "),
    (r"Starts", "std::tuple "), (r"bound|extent|std::int64_t", "extent "),
    (r"dot_dimensions", "{{left_contract}, {right_contract}, {left_batch}, {right_batch}} "), (r"Value", "number "),
    (r"(\w+_dimension_numbers)", r"\1 "),
]


def text_of(source, tokens):
    """A declaration without its body and its value, as one line; an enumeration with its enumerators."""
    depth, end, value = 0, len(tokens), ""
    if "enum" in tokens[:1] and "{" in tokens:
        at = tokens.index("{")
        names = [token for token, before in zip(tokens[at + 1:], tokens[at:]) if before in ("{", ",") and token != "}"]
        return f"{' '.join(tokens[:at]).split(' :')[0]} {{ {', '.join(names)} }}"
    head = behind_specifiers(tokens) or 0
    is_function = is_type(tokens) or tokens[head] in ("using", "concept") or "operator" in tokens
    for i, token in enumerate(tokens):
        is_value = token == "=" and i > head and not is_function and not open_angle(tokens, head, i)
        if depth == 0 and (token in ("{", ";") or is_value or (token == ":" and not is_type(tokens) and ")" in tokens[:i])):
            end = i
            if is_value and tokens[-1] == ";" and tokens[-1].begin - token.begin <= 60:
                value = " " + " ".join(source[token.begin:tokens[-1].begin].split())
            break
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token, 0)
    words = re.sub(r"//[^\n]*", "", source[tokens[0].begin:tokens[end - 1].end]).split()
    return re.sub(r"PARALLAX_[A-Z_]+ ?", "", " ".join(word for word in words if word not in HIDDEN)) + value


def open_angle(tokens, begin, end):
    between = "".join(tokens[begin:end]).replace("->", "").replace("operator", "")
    return between.count("<") > between.count(">")


def without_group(text, begin):
    """Without what a pattern that ends before a bracket begins, up to the bracket's end."""
    while match := re.search(begin + r"\(", text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        text = text[:match.start()] + text[at:]
    return text


def shown(text):
    """A declaration without internals; None if it is not for users."""
    if REFUSING.search(text):
        return None
    for internal, written in WRITTEN.items():
        text = re.sub(internal, written, text)
    if "const extent (&" in text:
        text = re.sub(r"(, )?std::size_t (N|Rank)(?=[,>])", "", text, count=1)
        text = re.sub(r"const extent \(&(\w+)\)\[\w+\]", r"{extents...} \1", text)
        text = text.replace("template <> ", "").replace("template <, ", "template <")
    if not INTERNAL.search(text):
        return text
    text = without_group(text, r" noexcept")
    if INTERNAL.search(text):
        text = without_group(text, r" requires ?")
        text = re.sub(r" requires !?detail::\w+<[^>]*>+(?= )|(?<=>) requires [\w:]+<.*?>(?= \w+ \w+$)", "", text)
    if text.startswith("template"):
        text = re.sub(r"\bdetail::\w+(<[^<>]*>)?(\.\.\.)? (\w+)(?=[,>]| =)", r"class\2 \3", text)
    text = re.sub(r"<detail::\w+>(?=$|,)", "<...>", text)
    text = re.sub(r" : public .*detail::.*", "", text)
    text = re.sub(r"^using runtime::(\w+)$", r"class \1", text)
    text = re.sub(r"^using (\w+) = .*detail::.*", r"class \1", text)
    text = re.sub(r"^(template <.*?> using \w+ =) .*detail::.*", r"\1 ...", text)
    text = re.sub(r"(^|> )(detail::\w+(<[^()]*>)?|\w+<detail::[^()]*>) (\w+)$", r"\1auto \4", text)
    return None if INTERNAL.search(text) else text


def parameters_of(tokens):
    """The tokens of each parameter of the bracket that begins `tokens`."""
    found, each, depth = [], [], 0
    for token in [*tokens[1:behind(tokens, 0) - 1], ","]:
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(token, 0)
        if token == "," and depth == 0:
            if each:
                found.append(each)
            each = []
        else:
            each.append(token)
    return found


def form_of(name, text, is_apply):
    """A call of an operation with the kinds of its arguments, sum(array x, axis<Axes...>); None if it is not for users."""
    tokens = tokens_of(text)
    at = tokens.index("apply" if is_apply else "operator") + (1 if is_apply else 3)
    of_concept = {of: concept for concept, of in re.findall(r"(array_operand|eager_operand|constant_\w+) (\w+)", text)}
    arguments = []
    for each in parameters_of(tokens[at:]):
        default = each.index("=") if "=" in each else len(each)
        value = "".join(each[default + 1:])
        is_pack = each[1:4] == [".", ".", "."] or each[2:6] == ["&", ".", ".", "."]
        words = [token for token in each[:default] if token not in ("const", "&", "(", ")") and not (is_pack and token == ".")]
        array = words.index("[") if "[" in words else len(words)
        size, words = "".join(words[array:]), words[:array]
        last = words[-1] if len(words) > 1 and re.match(r"[A-Za-z_]", words[-1]) and words[-2] != "::" else ""
        kind = "".join(words[:-1] if last else words)
        if of_concept.get(kind) in ("eager_operand", "constant_expression", "constant_entry"):
            return None  # constants in place of traced arrays
        kind += size
        written = "traced " if kind == "tracer" and not is_apply else "array... " if is_pack else "array "
        for pattern, by in KINDS:
            if re.fullmatch(pattern, kind):
                written = re.sub(pattern + "$", by, kind) if by else by
                break
        if written is None:
            return None
        if written.endswith(" "):
            value = value.replace("{}", "{}" if written.startswith("{") else "0")
            arguments.append(written + last.replace("axis_number", "axis") + (f" = {value}" if value else ""))
        elif written:
            arguments.append(f"[{written}]" if value else written)
        if is_pack and written == "array... ":
            arguments.append("[axis<Axis>]")
    return f"{name}({', '.join(arguments)})"


def forms_of(name, members):
    """The calls of an operation, each with its comment, from the members (name, text, comment) of its class."""
    forms = {}
    for called, text, comment in members:
        if called not in ("operator()", "apply") or re.search(r"const X& x, const Arguments&", text):
            continue
        if called == "operator()" and re.search(r"\bT&\.\.\. operands", text):
            continue
        form = form_of(name, text, called == "apply")
        if form is not None and not forms.get(form):
            forms[form] = comment
    return {form: comment for form, comment in forms.items() if "traced" not in form or form.replace("traced", "array") not in forms}
