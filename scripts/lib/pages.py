"""The code of pages: which of their fences are programs, which are parts of one, and what a program should print."""
import re
from pathlib import Path
from typing import NamedTuple

LANGUAGES = {"c", "cmake", "cpp", "cuda", "fortran", "json", "python", "sh", "text"}


class Block(NamedTuple):
    """A fence, or a comment of code that the reader need not see."""
    line: int  # that of its first line of code
    language: str
    code: str
    hidden: bool


class Program(NamedTuple):
    """What is compiled as one file."""
    page: str
    line: int
    language: str
    code: str
    whole: bool  # has a main function
    output: Block | None


class PageError(Exception):
    pass


def blocks_of(page, text):
    blocks = []
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        fence = re.fullmatch(r"( *)```(\S*)", line)
        comment = re.fullmatch(r"<!-- (cpp|cuda)", line)
        if not fence and not comment:
            if line.lstrip().startswith("```"):
                raise PageError(f"{page}:{number}: a fence begins with ``` and a language, and nothing behind it")
            continue
        language = fence[2] if fence else comment[1]
        if language not in LANGUAGES:
            raise PageError(f"{page}:{number}: no language of fences: '{language}'; there are {', '.join(sorted(LANGUAGES))}")
        indent, end, code = len(fence[1]) if fence else 0, "```" if fence else "-->", []
        for _, inner in lines:
            if inner.strip() == end:
                break
            code.append(inner[indent:] if inner[:indent].isspace() else inner)
        else:
            raise PageError(f"{page}:{number}: what begins here has no end, a line {end}")
        blocks.append(Block(number + 1, language, "".join(line + "\n" for line in code), not fence))
    return blocks


def programs_of(page, text):
    """Whole programs by themselves, and the rest of each language joined."""
    blocks = blocks_of(page, text)
    programs, parts = [], {}
    for i, block in enumerate(blocks):
        if block.language not in ("cpp", "cuda"):
            continue
        code = f'#line {block.line} "{page}"\n{block.code}'
        if re.search(r"\bint main\b(?!\(int argc)", block.code):
            following = next((later for later in blocks[i + 1:] if not later.hidden), None)
            output = following if following and following.language == "text" else None
            programs.append(Program(page, block.line, block.language, code, True, output))
        else:
            parts.setdefault(block.language, []).append((block, code))
    for language, joined in parts.items():
        first = next((block for block, _ in joined if not block.hidden), joined[0][0])
        programs.append(Program(page, first.line, language, "".join(code for _, code in joined), False, None))
    return programs


def together(programs):
    """The programs as one for each page and language, for compilers that only read them: each in a namespace of its own. Those
    that replace the global allocation stay by themselves."""
    pages = {}
    alone = [program for program in programs if re.search(r"\boperator (new|delete)\b", program.code)]
    for program in programs:
        if program in alone:
            continue
        pages.setdefault((program.page, program.language), []).append(program)
    joined = [Program(page, parts[0].line, language, one_file_of(parts), False, None)
              for (page, language), parts in pages.items()]
    return joined + alone


def one_file_of(programs):
    """Their code as one file without a main function: what they include, and then each in a namespace of its own."""
    includes, code = {}, ""
    for program in programs:
        body = ""
        for line in program.code.splitlines():
            if line.startswith("#include"):
                includes[line] = None
                line = ""
            # there, a main function has to return what it says
            body += re.sub(r"^int main\(\)", "auto main()", line) + "\n"
        code += f"namespace {re.sub(r'[^a-zA-Z0-9]+', '_', program.page)}_{program.line} {{\n{body}}}\n"
    return "".join(f"{line}\n" for line in includes) + code


def user_pages(root):
    pages = [root / "README.md", *root.glob("docs/learn/*.md"), *root.glob("docs/how-to/*.md"), *root.glob("docs/*.md")]
    internal = {root / "docs/design.md", root / "docs/performance.md"}
    return sorted(str(page.relative_to(root)) for page in pages if page not in internal)


NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")


def same_number(one, other):
    if one == other:
        return True
    if not any(sign in number for number in (one, other) for sign in ".eE"):
        return False
    a, b = float(one), float(other)
    return abs(a - b) <= 1e-3 * max(abs(a), abs(b))


def same_line(expected, printed):
    """Spaces count only where numbers are the same: how wide these are decides how many there are."""
    expected, printed = expected.rstrip(), printed.rstrip()
    if expected == printed:
        return True
    numbers, printed_numbers = NUMBER.findall(expected), NUMBER.findall(printed)
    texts = ["".join(NUMBER.sub("0", line).split()) for line in (expected, printed)]
    return (texts[0] == texts[1] and len(numbers) == len(printed_numbers)
            and all(map(same_number, numbers, printed_numbers)))


def first_difference(expected, printed):
    """(index, expected line, printed line) of the first line that differs, or None."""
    expected, printed = expected.rstrip().splitlines(), printed.rstrip().splitlines()
    for i in range(max(len(expected), len(printed))):
        there = expected[i] if i < len(expected) else None
        here = printed[i] if i < len(printed) else None
        if there is None or here is None or not same_line(there, here):
            return i, there, here
    return None
