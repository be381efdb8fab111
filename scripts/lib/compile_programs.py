"""Programs whose compilation is measured: those of bench/compile/, and chains of operations and deeper networks to see how
cost grows."""
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "bench/compile"

SIZES = (10, 100, 1000)

OPERATIONS = ("a = a + b;", "b = b * a;", "a = plx::tanh(a);", "b = b - a;")
CHAIN = """#include <parallax/parallax.hpp>
namespace plx = parallax;
constexpr auto chain = [](auto x, auto y) {{
  auto a = x, b = y;
  {operations}
  return a * b;
}};
[[maybe_unused]] constexpr auto total = [](auto x, auto y) {{ return plx::sum(chain(x, y)); }};
plx::array<float, 1> run(const plx::array<float, 1>& x, const plx::array<float, 1>& y) {{
  return plx::jit({function})(x, y);
}}
"""
DIGITS = """#include "../../examples/digits_model.hpp"
#include <tuple>
namespace plx = parallax;
using namespace examples;
using weight = plx::array<float, 3>;
using parameters = layer<weight, plx::array<float, 2>>;
float run(const std::tuple<parameters, parameters, parameters>& params, const weight& images, const weight& targets) {
  auto [updated, losses] = step(params, images, targets, 0.1f);
  return losses(0);
}
"""
SCAN = """#include "transformer_step.hpp"
using network = bench::model<bench::block<{count}>>;
float run(const network& params, const bench::state_of<network>& state, const bench::texts& text, const bench::texts& next) {{
  return bench::step(params, state, text, next);
}}
"""


class Program(NamedTuple):
    name: str
    text: str

    @property
    def includes(self):
        """Those of the library and the project; of the standard library where there are no others."""
        lines = re.findall(r"^#include .*", self.text, re.M)
        own = [line for line in lines if '"' in line or "<parallax/" in line]
        return "".join(f"{line}\n" for line in own or lines)

    @property
    def is_header_alone(self):
        return not re.sub(r"^(//|#include ).*", "", self.text, flags=re.M).strip()


def growing():
    """Chains of operations on two arrays that are woven into each other, a digits step, and scans over a transformer's blocks."""
    for name, function in (("forward", "chain"), ("gradient", "plx::grad(total)")):
        for size in SIZES:
            operations = "\n  ".join(OPERATIONS[i % 4] for i in range(size))
            yield Program(f"{name}_{size}", CHAIN.format(operations=operations, function=function))
    yield Program("digits_step", DIGITS)
    for count in (1, 4):
        yield Program(f"scan_over_{count}", SCAN.format(count=count))


def programs():
    return [Program(path.stem, path.read_text()) for path in sorted(FOLDER.glob("*.cpp"))]
