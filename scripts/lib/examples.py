"""The examples of public names, docs/examples: their names, their code, and what they should print."""
import re
from pathlib import Path
from typing import NamedTuple

from headers import declarations_in, is_type, tokens_of

PUBLIC = ("parallax", "parallax::optim")
MAIN = re.compile(r"int main\(\) \{( .* \})?")


class Example(NamedTuple):
    path: str
    names: list  # that it is the example of
    code: str  # from the second line on, until main ends
    output: str
    output_line: int

    @property
    def page_code(self):
        """Without what each page says once: the headers that most have, and the short name of the namespace."""
        common = r"#include (<\w+>|<parallax/parallax.hpp>)$|namespace plx = parallax;$"
        lines = [line for line in self.code.splitlines() if not re.match(common, line)]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


class ExampleError(Exception):
    pass


def read(root, path):
    """An example, or ExampleError with all that its form lacks."""
    place = str(path.relative_to(root))
    lines = path.read_text().splitlines()
    wrong = []
    if not lines or not re.fullmatch(r"// [\w:]+\S*(, \S+)*", lines[0]):
        raise ExampleError(f"{place}:1: the first line is // and the names, separated by commas")
    names = lines[0][3:].split(", ")
    if path.stem != names[0].replace("::", "."):
        wrong.append(f"{place}:1: the file of the first name, {names[0]}, is {names[0].replace('::', '.')}{path.suffix}")
    mains = [match for line in lines if (match := MAIN.fullmatch(line))]
    ends = [i for i, line in enumerate(lines) if line == "}" or mains and line == mains[0].string]
    if not ends or len(mains) != 1:
        raise ExampleError(f"{place}:1: no line `int main() {{`, or none that ends it")
    end = ends[-1] + 1
    code = "".join(line + "\n" for line in lines[1:end])
    for i, line in enumerate(lines[end:], end + 1):
        if not re.fullmatch(r"//( .*)?", line):
            wrong.append(f"{place}:{i}: behind main stands what is printed, each line behind `// `")
    if end == len(lines):
        wrong.append(f"{place}:{end}: nothing is printed")
    if re.search(r"^(#(?!include)|using namespace)", code, re.M):
        wrong.append(f"{place}:1: examples are compiled together: no macros, and no `using namespace` outside of functions")
    for name in names:
        if not is_used(name, code):
            wrong.append(f"{place}:1: {name} does not occur in the code")
    if wrong:
        raise ExampleError("\n".join(wrong))
    return Example(place, names, code, "".join(line[3:] + "\n" for line in lines[end:]), end + 1)


def is_used(name, code):
    if name.startswith("operator"):
        return re.search(r"(?<![-+*/%<>=!&|^~])" + re.escape(name.removeprefix("operator")) + r"(?![=<>&|])", code) is not None
    return re.search(rf"\b{name}\b", code) is not None or name.endswith("_t") or name in result_types()


def all_of(root):
    """By name: the examples, and what is wrong with others."""
    by_name, wrong = {}, []
    for path in files_of(root):
        try:
            example = read(root, path)
        except ExampleError as error:
            wrong += str(error).splitlines()
            continue
        for name in example.names:
            if name in by_name:
                wrong.append(f"{example.path}:1: {name} has an example, {by_name[name].path}")
            by_name.setdefault(name, example)
    return by_name, wrong


def files_of(root):
    return sorted([*(root / "docs/examples").glob("*.cpp"), *(root / "docs/examples").glob("*.cu")])


_types = set()


def result_types():
    """Public classes, which examples may use by a value alone."""
    if not _types:
        for path in (Path(__file__).resolve().parent.parent.parent / "include/parallax").rglob("*.hpp"):
            for each in declarations_in(tokens_of(path.read_text())):
                if each.namespace in PUBLIC and is_type(each.tokens):
                    _types.add(each.name if each.namespace == "parallax" else f"optim::{each.name}")
    return _types


def batches(examples, size):
    """Of about as many examples each; neighbours, which cost alike, in different ones."""
    count = max(1, -(-len(examples) // size))
    return [examples[i::count] for i in range(count)]


def joined(examples):
    """One program of many. Each is a function in a namespace of its own, and prints behind a line of its number."""
    includes, parts, calls = {}, [], []
    for i, example in enumerate(examples):
        body = []
        for line in example.code.splitlines():
            is_include = line.startswith("#include")
            if is_include:
                includes[line] = None
            body.append("" if is_include else re.sub(r"^int main\(\)", "void example()", line))
        parts.append(f"namespace example_{i} {{\n#line 2 \"{example.path}\"\n" + "\n".join(body) + "\n}\n")
        calls.append(f"  run({i}, example_{i}::example);\n")
    runner = """
namespace {
void run(int number, void (*example)()) {
  std::ios format(nullptr);
  format.copyfmt(std::cout);
  std::cout << '\\x1e' << number << '\\n';
  try {
    example();
  } catch (const std::exception& e) {
    std::cout << "threw: " << e.what() << '\\n';
  }
  std::cout.copyfmt(format);
}
} // namespace
int main() {
"""
    hoisted = "".join(f"{line}\n" for line in includes) + "#include <exception>\n#include <ios>\n#include <iostream>\n"
    return hoisted + "".join(parts) + '#line 1 "runner"' + runner + "".join(calls) + "}\n"


def outputs_of(printed, count):
    """What each example of a joined program printed; None for those that it did not come to."""
    found = [None] * count
    for part in printed.split("\x1e")[1:]:
        number, _, text = part.partition("\n")
        found[int(number)] = text
    return found
