// Tables of numbers inside traced functions: how programs have them and print them, and calls of other kinds with them.
#include "ops/reference.hpp"

#include <parallax/compiled_function.hpp>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace tables_test {

namespace {

namespace plx = parallax;
using vector = plx::array<float, 1>;
using matrix = plx::array<float, 2>;

constexpr auto weighed = [](auto x) { return x * vector{1, 2, 3} + vector{1, 2, 3}; };
constexpr auto long_one = [](auto x) { return plx::sum(vector({20}, 1.f)) + x; };
constexpr auto empty_one = [](auto x) { return plx::sum(matrix({0, 2}, 1.f)) + x; };
constexpr auto nested = [](auto x) { return matrix{{1, 2}, {3, 4}} * x; };
constexpr auto in_a_loop = [](auto x) {
  return plx::fori_loop(0, 2, [](auto, auto c) { return c + vector{0.5, 1}; }, x);
};

constexpr bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("expressions print tables as they are written, and have each once") {
  CHECK(plx::expression(weighed, plx::shaped<float, 3>) == "{ lambda a:float32[3] . let\n"
                                                           "    b:float32[3] = mul a [1.0, 2.0, 3.0]\n"
                                                           "    c:float32[3] = add b [1.0, 2.0, 3.0]\n"
                                                           "  in (c,) }");
  CHECK(has(plx::expression(nested, plx::shaped<float, 2, 2>), "mul [[1.0, 2.0], [3.0, 4.0]] a"));
  CHECK(has(plx::expression(long_one, plx::shaped<float>), " float32[20][1.0, 1.0, 1.0, ...]\n"));
  CHECK(has(plx::expression(empty_one, plx::shaped<float>), " float32[0,2][]\n"));
  CHECK(has(plx::expression(in_a_loop, plx::shaped<float, 2>), "}] a 0 [0.5, 1.0]\n"));
  using weighed_program = plx::detail::program<std::remove_const_t<decltype(weighed)>,
                                               plx::abstract_array<float, plx::extents_t<3>, false>>;
  STATIC_REQUIRE(weighed_program::table_count == 1);
}

TEST_CASE("results in others' memory, donated arguments and calls without a runtime") {
  std::vector<float> out(3);
  plx::jit(weighed)(vector{1, 1, 1}, plx::into(out));
  CHECK(out == std::vector<float>{2, 4, 6});

  auto x = vector{1, 2, 3};
  CHECK(plx::jit(weighed, plx::donate<0>)(x).to_vector() == std::vector<float>{2, 6, 12});

  constexpr plx::compiled_function<weighed, plx::shaped<float, 3>> compiled;
  const std::array<float, 3> given{1, 0, -1};
  std::array<float, 3> made{};
  compiled(given, made);
  CHECK(made == std::array<float, 3>{2, 2, 0});
}

} // namespace tables_test
