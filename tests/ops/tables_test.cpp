// Tables of numbers inside traced functions: how programs have them and print them, and calls of other kinds with them.
#include "ops/reference.hpp"

#include <parallax/compiled_function.hpp>

#include <array>
#include <string_view>
#include <tuple>
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
                                               plx::detail::abstract_array<float, plx::extents_t<3>, false>>;
  STATIC_REQUIRE(weighed_program::table_count == 1);
}

TEST_CASE("rows of tables, and what is computed of tables, are indexed, sliced and stacked") {
  auto f = plx::jit([](auto x) {
    const matrix t{{1, 2, 3}, {4, 5, 6}};
    auto twice = 2.f * t;
    return std::tuple(t[1][2] * x, twice[0] + x, plx::stack({t[0][1] * t[1][0], x[1], twice[1][1]}),
                      plx::stack({t[0], t[1]})[1] + x, plx::slice_in_dim(vector{1, 2, 3, 4}, 1, 4) * x,
                      plx::index_in_dim(twice, 2, 1)[1] + x);
  });
  auto [a, b, c, d, e, g] = f(vector{1, 2, 3});
  CHECK(a.to_vector() == std::vector<float>{6, 12, 18});
  CHECK(b.to_vector() == std::vector<float>{3, 6, 9});
  CHECK(c.to_vector() == std::vector<float>{8, 2, 10});
  CHECK(d.to_vector() == std::vector<float>{5, 7, 9});
  CHECK(e.to_vector() == std::vector<float>{2, 6, 12});
  CHECK(g.to_vector() == std::vector<float>{13, 14, 15});

  const matrix outside{{1, 2}, {3, 4}};
  const plx::array row = (2.f * outside)[1];
  CHECK(row.to_vector() == std::vector<float>{6, 8});
  const plx::array rows = plx::stack({vector{1, 2}, row});
  CHECK(rows.to_vector() == std::vector<float>{1, 2, 6, 8});
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

TEST_CASE("tables are reshaped, changed, and reduced along axes that are numbers") {
  const auto [sums, columns, changed, expanded, parts] = plx::jit([](auto x) {
    const plx::array<double, 1> t{1, 2, 3};
    const auto column = plx::reshape(t, {3, 1}), twice = plx::reshape(2. * t, {-1, 1});
    const plx::array<double, 2> m{{1, 2, 3}, {4, 5, 6}};
    const auto zeroed = (2. * t).at(plx::arange(2)).set(0.);
    return std::tuple(plx::sum(m, 0) + x, plx::sum(column * x, 0) + plx::sum(twice, 0), t.at(1).add(x[0]) + x,
                      plx::expand_dims(t, 1) * x, zeroed + x + plx::max(m, {0}) + plx::transpose(m, {1, 0})[0][0]);
  })(plx::array<double, 1>{1, 1, 1});
  CHECK(sums.to_vector() == std::vector<double>{6, 8, 10});
  CHECK(columns.to_vector() == std::vector<double>{18, 18, 18});
  CHECK(changed.to_vector() == std::vector<double>{2, 4, 4});
  CHECK(expanded.to_vector() == std::vector<double>{1, 1, 1, 2, 2, 2, 3, 3, 3});
  CHECK(parts.to_vector() == std::vector<double>{6, 7, 14});
}

constexpr auto beside_a_long_table = [](auto x) { return x + plx::array<double, plx::extents<70000>>({70000}, 0.25); };

TEST_CASE("a program of more words than most is traced again at its size") {
  using plx::detail::pass_what_is_known_at_run_time_only_as_an_argument, plx::detail::first_capacity;
  using number = plx::detail::abstract_t<std::remove_const_t<decltype(plx::shaped<double>)>>;
  static_assert(
      pass_what_is_known_at_run_time_only_as_an_argument<decltype(plx::jit(beside_a_long_table)), number>.size >
      first_capacity);
  const plx::array result = plx::jit(beside_a_long_table)(plx::array<double, 0>(1.5));
  CHECK(result.size() == 70000);
  CHECK(result(0) == 1.75);
  CHECK(result(69999) == 1.75);
}

TEST_CASE("elements of arrays are changed outside of traced functions too") {
  const plx::array<std::int32_t, 1> bins{2, 0, 2};
  const vector counts = plx::zeros({3}).at(bins).add(1.f), three = vector{1, 2, 3}.at(1).multiply(5.f);
  CHECK(counts.to_vector() == std::vector<float>{1, 0, 2});
  CHECK(three.to_vector() == std::vector<float>{1, 10, 3});
  const plx::array read = three.at(bins).get();
  CHECK(read.to_vector() == std::vector<float>{3, 1, 3});
}

} // namespace tables_test
