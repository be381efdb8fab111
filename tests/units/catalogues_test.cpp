// Files whose catalogues of primitives differ, in one program.
#include "support/test.hpp"
#include "units/catalogues.hpp"

#include <cmath>
#include <functional>
#include <map>

namespace {

using units::computed, units::element, units::length;

/// A row's elements from the first to number i, combined.
double combined(std::size_t i, const std::function<double(double, double)>& combine) {
  double all = static_cast<double>(element(0));
  for (std::size_t j = 1; j <= i; ++j) all = combine(all, static_cast<double>(element(j)));
  return all;
}
double sum(double x, double y) { return x + y; }
double largest(double x, double y) { return std::fmax(x, y); }
double smallest(double x, double y) { return std::fmin(x, y); }

/// Element i of what a program computes.
double expected(const std::string& program, std::size_t i) {
  const double x = static_cast<double>(element(i));
  const std::map<std::string, std::function<double()>> programs = {
      {"sin", [&] { return std::sin(x); }},
      {"cos", [&] { return std::cos(x); }},
      {"tan", [&] { return std::tan(x); }},
      {"sqrt", [&] { return std::sqrt(x); }},
      {"sum", [&] { return combined(length - 1, sum); }},
      {"max", [&] { return combined(length - 1, largest); }},
      {"min", [&] { return combined(length - 1, smallest); }},
      {"less the sum", [&] { return x - combined(length - 1, sum); }},
      {"less the largest", [&] { return x - combined(length - 1, largest); }},
      {"cumsum", [&] { return combined(i, sum); }},
      {"cummax", [&] { return combined(i, largest); }},
      {"added twice", [&] { return 3 * x; }},
      {"the larger one", [&] { return 2 * x; }}};
  return programs.at(program)();
}

void check(const std::vector<computed>& all) {
  REQUIRE(all.size() == 13);
  for (const computed& result : all) {
    CAPTURE(result.program);
    REQUIRE(!result.values.empty());
    for (std::size_t i = 0; i < result.values.size(); ++i)
      if (result.values.size() != units::rows || i == 0)
        CHECK(static_cast<double>(result.values[i]) == Approx(expected(result.program, i)).epsilon(1e-4).margin(1e-6));
  }
}

} // namespace

TEST_CASE("a file computes with its own primitives") {
  SECTION("the one with this catalogue") { check(units::with_this_catalogue()); }
  SECTION("the one with another catalogue") { check(units::with_other_catalogue()); }
}
