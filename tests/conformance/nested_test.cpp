// Conformance cases of JAX's nested pmaps.
#include "expected.hpp"

#include <string_view>

namespace nested_test {

namespace {

using namespace conformance;

using i32 = std::vector<std::int32_t>;

} // namespace

TEST_CASE("row 41: sums over both axes") {
  constexpr auto at_once = plx::pmap<"i">(plx::pmap<"j">([](auto x) { return plx::psum<"i", "j">(x); }));
  constexpr auto one_by_one = plx::pmap<"j">(
      plx::pmap<"i">([](auto x) { return std::pair{plx::psum<"j">(plx::psum<"i">(x)), plx::psum<"i", "j">(x)}; }));
  const auto x = counted(4, 2, 4);
  const auto expected = repeated<float>({112, 120, 128, 136}, 8); // of 4k + c over k = 0..7
  check_equal(at_once(x), {4, 2, 4}, expected);
  auto [chained, together] = one_by_one(x);
  check_equal(chained, {4, 2, 4}, expected);
  check_equal(together, {4, 2, 4}, expected);
  CHECK(chained.devices() == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("sums over one of two axes") {
  auto [over_i, over_j] = plx::pmap<"i">(plx::pmap<"j">(
      [](auto x) { return std::pair{plx::psum<"i">(x), plx::psum<"j">(x)}; }))(counted<std::int32_t>(3, 2));
  check_equal(over_i, {3, 2}, i32{6, 9, 6, 9, 6, 9});
  check_equal(over_j, {3, 2}, i32{1, 1, 5, 5, 9, 9});
}

TEST_CASE("row 42: the cookbook's nested normalisation") {
  auto [rows, columns, both] = plx::pmap<"rows">(plx::pmap<"cols">([](auto x) {
    return std::tuple{x / plx::psum<"rows">(x), x / plx::psum<"cols">(x), x / plx::psum<"rows", "cols">(x)};
  }))(counted(4, 2));
  check_close(rows, {4, 2}, {0, .0625, 1. / 6, .1875, 1. / 3, .3125, .5, .4375});
  check_close(columns, {4, 2}, {0, 1, .4, .6, 4. / 9, 5. / 9, 6. / 13, 7. / 13});
  std::vector<double> by_total;
  for (int i = 0; i < 8; ++i) by_total.push_back(i / 28.);
  check_close(both, {4, 2}, by_total);
}

TEST_CASE("row 44: positions along nested axes") {
  auto [j, i, ij, ji] = plx::pmap<"i">(plx::pmap<"j">([](auto x) {
    return std::tuple{x + plx::axis_index<"j">(), x + plx::axis_index<"i">(), x + plx::axis_index<"i", "j">(),
                      x + plx::axis_index<"j", "i">()};
  }))(plx::array<std::int32_t, 2>{{1, 1}, {1, 1}});
  check_equal(j, {2, 2}, i32{1, 2, 1, 2});
  check_equal(i, {2, 2}, i32{1, 1, 2, 2});
  check_equal(ij, {2, 2}, i32{1, 2, 3, 4});
  check_equal(ji, {2, 2}, i32{1, 3, 2, 4});
}

TEST_CASE("row 45: sums of constants over nested axes") {
  constexpr auto sums = plx::pmap<"i">(
      plx::pmap<"j">([](auto) { return std::tuple{plx::psum<"i">(1), plx::psum<"j">(1), plx::psum<"i", "j">(1)}; }));
  auto [i, j, both] = sums(counted(4, 1));
  check_equal(i, {4, 1}, i32{4, 4, 4, 4});
  check_equal(j, {4, 1}, i32{1, 1, 1, 1});
  check_equal(both, {4, 1}, i32{4, 4, 4, 4});
  static_assert(plx::expression(sums, plx::shaped<float, 4, 1>).find("psum") == std::string_view::npos);
}

TEST_CASE("the inner of two axes with one name is meant") {
  auto y = plx::pmap<"i">(plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); }))(counted<std::int32_t>(2, 3));
  check_equal(y, {2, 3}, i32{3, 3, 3, 12, 12, 12});
}

TEST_CASE("axes swapped between nested pmaps") {
  // the outer pmap maps axis 1, the inner one axis 0 of what is left; results with the axes in the opposite places
  auto y = plx::pmap(plx::pmap([](auto x) { return x * 10; }), plx::in_axes<1>,
                     plx::out_axes<1>)(counted<std::int32_t>(2, 3, 2));
  i32 expected;
  for (int k = 0; k < 12; ++k) expected.push_back(10 * k);
  check_equal(y, {2, 3, 2}, expected);
  // device = row-major over nesting: outer index major
  CHECK(y.shard_values(1)[0] == 10 * (1 * 6 + 0 * 2));
  CHECK(y.shard_values(2)[0] == 10 * (0 * 6 + 1 * 2));
}

TEST_CASE("a result of an inner pmap that is the same along the outer axis leaves without it") {
  constexpr auto mean_and_index = plx::pmap<"i">(
      [](auto x) {
        auto [sum, column] =
            plx::pmap<"j">([](auto y) { return std::pair{plx::psum<"i">(y), plx::axis_index<"j">()}; })(x);
        return std::pair{sum / 2, column};
      },
      plx::out_axes<plx::none>);
  auto [mean, columns] = mean_and_index(plx::array<float, 2>{{1, 2, 3}, {4, 6, 8}});
  check_equal(mean, {3}, std::vector<float>{2.5f, 4, 5.5f});
  check_equal(columns, {3}, i32{0, 1, 2});
}

TEST_CASE("a closure over the outer instance's values") {
  auto y = plx::pmap([](auto x) { return plx::pmap([=](auto v) { return v * plx::sum(x); })(x); })(counted(2, 3));
  check_equal(y, {2, 3}, std::vector<float>{0, 3, 6, 36, 48, 60});
}

TEST_CASE("row 48: the cookbook's gradients of nested pmaps") {
  static constexpr auto f = plx::pmap([](auto x) {
    auto y = plx::sin(x);
    auto g = plx::pmap([=](auto z) { return plx::cos(z) * plx::tan(plx::sum(y)) * plx::sum(plx::tanh(x)); });
    return plx::grad([=](auto w) { return plx::sum(g(w)); })(x);
  });
  check_close(f(counted(4, 2)), {4, 2},
              {-0, -.71708295, -3.10852764, -.4824334, 10.36649135, 13.13510495, .2216303, -.5211169}, 1e-4, 1e-6);
  constexpr auto of_sum = plx::grad([](auto x) { return plx::sum(f(x)); });
  check_close(of_sum(counted(4, 2)), {4, 2},
              {-3.23696496, -1.63564421, 4.75718352, 11.60709515, -98.52310447, 42.76511683, -1.60070897, -1.25683519},
              1e-4, 1e-6);
}

TEST_CASE("row 58: sums of products over two axes, mapped either way") {
  constexpr auto reduce = [](auto x, auto y) {
    auto product = plx::dot(x, y);
    return std::tuple{x + plx::psum<"i", "j">(product), x + plx::pmean<"i", "j">(product),
                      x + plx::pmax<"i", "j">(product), x + plx::pmin<"i", "j">(product)};
  };
  const auto x = plx::array<float, 4>::filled({2, 2, 64, 64}, 1);
  auto check = [](const auto& results) {
    const std::size_t count = 4 * 64 * 64;
    check_equal(std::get<0>(results), {2, 2, 64, 64}, std::vector<float>(count, 257));
    check_equal(std::get<1>(results), {2, 2, 64, 64}, std::vector<float>(count, 65));
    check_equal(std::get<2>(results), {2, 2, 64, 64}, std::vector<float>(count, 65));
    check_equal(std::get<3>(results), {2, 2, 64, 64}, std::vector<float>(count, 65));
  };
  check(plx::pmap<"i">(plx::pmap<"j">(reduce))(x, x));
  check(plx::vmap<"i">(plx::vmap<"j">(reduce))(x, x));
  check(plx::pmap<"i">(plx::vmap<"j">(reduce))(x, x));
  check(plx::vmap<"i">(plx::pmap<"j">(reduce))(x, x));
}

} // namespace nested_test
