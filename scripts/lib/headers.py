"""What headers declare, read as text, without a compiler: names, the comments before them, and their declarations."""
import re
from typing import NamedTuple

PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"([^(\s]*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | \b\d[\w.']* | '(?:\\.|[^'\\\n])+'"""
    r"""| [A-Za-z_]\w* | :: | -> | && | \|\| | \s+ | .""",
    re.DOTALL | re.VERBOSE,
)
WORD = re.compile(r"[A-Za-z_]\w*$")
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
SPECIFIERS = {"inline", "constexpr", "consteval", "constinit", "static", "extern", "thread_local", "friend"}
TYPES = {"struct", "class", "union", "enum"}
WITH_PARENTHESES = {"decltype", "alignas", "noexcept", "explicit", "__attribute__", "requires"}
INLINE_NAMESPACES = {"PARALLAX_INLINE_VERSION", "with_cuda", "without_cuda"}
END = ["", ";", "}"]


class Token(str):
    """With its place in the text, the lines of documentation before it, and that behind it, of what ends here."""
    begin = end = 0
    comment = trailing = ""


def without_preprocessor(text):
    return PREPROCESSOR.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def tokens_of(text):
    """The tokens of a header, without comments and without what is for the preprocessor."""
    tokens, comment = [], []
    for match in TOKEN.finditer(without_preprocessor(text)):
        found = match.group()
        if found.startswith("///") and not found.startswith("///<"):
            comment.append(found[3:].strip())
        elif found.startswith("///<") and tokens:
            tokens[-1].trailing = found[4:].strip()
        elif not found.isspace() and not found.startswith(("//", "/*")):
            token = Token(found)
            token.begin, token.end, token.comment = match.start(), match.end(), "\n".join(comment)
            tokens.append(token)
            comment = []
    return tokens


def behind(tokens, at):
    """The place behind the bracket that closes the one at `at`."""
    if tokens[at] == "<":
        depth = 0
        while at < len(tokens):
            if tokens[at] in ("(", "[", "{"):
                at = behind(tokens, at)
                continue
            depth += {"<": 1, ">": -1}.get(tokens[at], 0)
            at += 1
            if depth == 0:
                return at
        return at
    opening, closing, depth = tokens[at], CLOSING[tokens[at]], 0
    while at < len(tokens):
        depth += {opening: 1, closing: -1}.get(tokens[at], 0)
        at += 1
        if depth == 0:
            return at
    return at


def behind_constraint(tokens, at):
    """The place behind a constraint, whose first token is at `at`."""
    while True:
        while tokens[at] == "!":
            at += 1
        if tokens[at] == "(":
            at = behind(tokens, at)
        elif tokens[at] == "requires":
            at += 1
            if tokens[at] == "(":
                at = behind(tokens, at)
            at = behind(tokens, at)
        else:
            while True:
                at += 2 if tokens[at] == "::" else 1
                if tokens[at] == "<":
                    at = behind(tokens, at)
                if tokens[at] != "::":
                    break
        if tokens[at] not in ("&&", "||"):
            return at
        at += 1


def end_of_declaration(tokens, at):
    """The place behind a declaration that begins at `at`."""
    is_type, has_initialiser = tokens[at] in TYPES, False
    while at < len(tokens):
        token = tokens[at]
        if token == "template" and tokens[at + 1] == "<":
            at = behind(tokens, at + 1)
        elif token == "operator":
            at += 3 if tokens[at + 1] == "(" else 1
            while tokens[at] not in ("(", *END):
                at += 1
        elif token in ("(", "["):
            at = behind(tokens, at)
        elif token == "{":
            at = behind(tokens, at)
            following = (tokens[at:] or [""])[0]
            if following == ";":
                return at + 1
            if not is_type and not has_initialiser and following not in (",", "(", ">", "&&", "||", "auto", "{"):
                return at
        elif token == ";":
            return at + 1
        else:
            has_initialiser = has_initialiser or token == "="
            at += 1
    return at


def behind_specifiers(tokens):
    """The place of a declaration's first word behind `template <...>`, `inline` and the like; None for an instantiation."""
    at = 0
    while True:
        if tokens[at] == "template":
            if tokens[at + 1] != "<":
                return None
            at = behind(tokens, at + 1)
        elif tokens[at] == "requires":
            at = behind_constraint(tokens, at + 1)
        elif tokens[at] == "[":
            at = behind(tokens, at)
        elif tokens[at] in SPECIFIERS:
            at += 1
        elif tokens[at] in WITH_PARENTHESES and tokens[at + 1] == "(":
            at = behind(tokens, at + 1)
        else:
            return at


def is_type(tokens):
    """Whether a declaration declares a class or an enumeration."""
    at = behind_specifiers(tokens + END)
    return at is not None and tokens[at] in TYPES


def name_of(tokens):
    """The name that a declaration declares, if it declares one: not that of a member or a specialisation elsewhere."""
    tokens = tokens + END
    at = behind_specifiers(tokens)
    if at is None:
        return None
    if tokens[at] == "using":
        if tokens[at + 1] == "namespace":
            return None
        return tokens[at + 1] if tokens[at + 2] in ("=", "[") else tokens[tokens.index(";", at) - 1]
    if tokens[at] in ("concept", "namespace"):
        return tokens[at + 1]
    if tokens[at] == "static_assert":
        return None
    if tokens[at] in TYPES:
        place = at + 2 if tokens[at + 1] in ("class", "struct") else at + 1
        while tokens[place] == "[" or tokens[place] == "alignas":
            place = behind(tokens, place if tokens[place] == "[" else place + 1)
        name, place = tokens[place], place + 1
        if tokens[place] == "<":
            place = behind(tokens, place)
        if tokens[place] == "::":
            return None
        if tokens[place] in ("{", ";", ":", "final"):
            return name
        at += 1
    last = None
    while tokens[at] not in END:
        token = tokens[at]
        if token == "operator":
            if at > 0 and tokens[at - 1] == "::":
                return None
            end = at + 3 if tokens[at + 1] == "(" else tokens.index("(", at)
            return "".join(tokens[at:end])
        if token in WITH_PARENTHESES and tokens[at + 1] == "(":
            at = behind(tokens, at + 1)
        elif token == "[" or (token == "<" and last is not None):
            at = behind(tokens, at)
        elif token in ("(", "=", "{"):
            break
        else:
            if WORD.match(token):
                last = at
            at += 1
    if last is None or (last > 0 and tokens[last - 1] == "::"):
        return None
    return tokens[last]


class Declaration(NamedTuple):
    namespace: str  # "parallax", "parallax::detail", ...
    name: str
    tokens: list


def declarations_in(tokens):
    """What a header declares in namespaces, in its order."""
    found, spaces, at = [], [], 0
    while at < len(tokens):
        if tokens[at] == ";":
            at += 1
            continue
        if tokens[at] == "}":
            spaces.pop()
            at += 1
            continue
        if tokens[at] == "extern" and tokens[at + 2 : at + 3] == ["{"]:
            spaces.append([])
            at += 3
            continue
        space = at + 1 if tokens[at : at + 2] == ["inline", "namespace"] else at
        if tokens[space] == "namespace":
            brace = space
            while tokens[brace] not in ("{", "=", ";"):
                brace += 1
            if tokens[brace] == "{":
                spaces.append([token for token in tokens[space + 1 : brace] if token not in ("::", "inline")])
                at = brace + 1
                continue
        end = end_of_declaration(tokens, at)
        name = name_of(tokens[at:end])
        if name is not None:
            parts = [part for parts in spaces for part in parts if part not in INLINE_NAMESPACES]
            found.append(Declaration("::".join(parts), name, tokens[at:end]))
        at = end
    return found


def names_in(tokens):
    """The names that a header declares in `namespace parallax` itself."""
    return {each.name for each in declarations_in(tokens) if each.namespace == "parallax"}
