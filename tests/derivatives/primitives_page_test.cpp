// The table of docs/primitives.md, made of the rules. With PARALLAX_WRITE_PAGES=1 in the environment the page is
// written anew, otherwise it is compared.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace primitives_page_test {

namespace {

namespace plx = parallax;
using plx::detail::primitive_kind;

std::string_view name_of(primitive_kind kind) {
  switch (kind) {
  case primitive_kind::source: return "source";
  case primitive_kind::elementwise: return "elementwise";
  case primitive_kind::reduction: return "reduction";
  case primitive_kind::cumulative: return "cumulative";
  case primitive_kind::sorting: return "sorting";
  case primitive_kind::gather: return "gather";
  case primitive_kind::scatter: return "scatter";
  case primitive_kind::product: return "product";
  case primitive_kind::view: return "view";
  case primitive_kind::assembly: return "assembly";
  case primitive_kind::collective: return "collective";
  case primitive_kind::call: return "call";
  }
  return "";
}

std::string page() {
  std::ostringstream out;
  out << "# Primitives\n\n"
         "What programs are made of, and which rules each has. `tests/derivatives/` makes this page, and holds both\n"
         "derivatives of every primitive against finite differences and against each other, the second derivatives\n"
         "too, in batches of `vmap` and `pmap`, in f32 and f64: one that is in no program there fails.\n\n"
         "| primitive | kind | reverse mode | forward mode | batches |\n|---|---|---|---|---|\n";
  for (const plx::detail::primitive_rules& rules : plx::detail::rule_table<plx::primitives::catalogue>::entries) {
    const bool is_call = rules.kind == primitive_kind::call;
    auto cell = [&](bool has, std::string_view how, std::string_view why) {
      out << " | ";
      if (has) out << how;
      else out << "no: " << why;
    };
    out << "| `" << rules.name << "` | " << name_of(rules.kind);
    if (rules.name == "custom_call") {
      out << " | as its user says | as its user says | a loop, or as its user says |\n";
      continue;
    }
    if (is_call && rules.name == "while")
      cell(false, "", "nothing says how many rounds to keep; `fori_loop` and `scan` have it");
    else cell(is_call || rules.has_vjp, is_call ? "`linearize`" : rules.has_zero_vjp ? "zero" : "`vjp`", rules.no_vjp);
    const bool is_linear = rules.kind == primitive_kind::view || rules.kind == primitive_kind::assembly;
    cell(is_call || rules.has_vjp,
         is_call                                     ? "`jvp`"
         : rules.has_zero_vjp                        ? "zero"
         : is_linear                                 ? "itself"
         : rules.kind == primitive_kind::elementwise ? "`vjp` of tangents"
                                                     : "`vjp` transposed",
         rules.no_vjp);
    cell(is_call || rules.has_batch, "`batch`", rules.no_batch);
    out << " |\n";
  }
  return out.str();
}

} // namespace

TEST_CASE("docs/primitives.md says what the rules are") {
  const std::string name = PARALLAX_SOURCE_DIR "/docs/primitives.md";
  if (std::getenv("PARALLAX_WRITE_PAGES") != nullptr) std::ofstream(name) << page();
  std::ifstream file(name);
  std::ostringstream found;
  found << file.rdbuf();
  CHECK(found.str() == page());
}

} // namespace primitives_page_test
