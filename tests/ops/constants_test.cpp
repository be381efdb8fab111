// Constants inside traced functions are arrays like any other.
#include "ops/reference.hpp"

namespace constants_test {

namespace {

namespace plx = parallax;
using vector = plx::array<float, 1>;
using matrix = plx::array<float, 2>;

} // namespace

TEST_CASE("a variable that begins as a constant can be reassigned") {
  auto sums = plx::jit([](auto x) {
    auto s = plx::zeros({3});
    for (int i = 0; i < 4; ++i) s = s + x;
    auto t = plx::ones({3});
    t += x;
    t *= s;
    t = t - s;
    auto u = x;
    u = plx::zeros({2});
    return std::tuple(s, t, u, s.shape(0) + 0 * t, s.rank() + 0 * t);
  });
  auto [s, t, u, n, r] = sums(vector{1, 2, 3});
  CHECK(s.to_vector() == std::vector<float>{4, 8, 12});
  CHECK(t.to_vector() == std::vector<float>{4, 16, 36});
  CHECK(u.to_vector() == std::vector<float>{0, 0});
  CHECK(n.to_vector() == std::vector<float>{3, 3, 3});
  CHECK(r.to_vector() == std::vector<float>{1, 1, 1});
}

TEST_CASE("constants are indexed, reshaped and handed to every operation") {
  auto f = plx::jit([](auto x) {
    const auto n = x.shape(0);
    auto numbers = plx::astype<float>(plx::arange(8));
    auto table = plx::reshape(numbers, {2, -1});
    return std::tuple(plx::index_in_dim(plx::cos(numbers), 2) + x, numbers[3] + x, plx::slice_in_dim(numbers, 1, 4) * x,
                      plx::sum(table, 1)[0] + x, plx::sum(table, {0, 1}) + x, plx::transpose(table, {1, 0})[1][1] + x,
                      plx::expand_dims(plx::arange(n), 1) + x, plx::where(plx::arange(n) < n - 1, x, 0),
                      plx::log(0.5) * x, plx::stack({1., 2., 3.}) * x, x[n - 1 - plx::arange(n)],
                      plx::take(x, 2 - plx::arange(3), 0), plx::cumsum(plx::ones({3}), 0) + x,
                      plx::argmax(plx::stack({1, 5, 2}), 0) + x);
  });
  auto [a, b, c, d, e, t, g, h, i, j, k, l, m, o] = f(vector{1, 2, 3});
  CHECK(a(0) == Approx(1 + std::cos(2.f)));
  CHECK(b.to_vector() == std::vector<float>{4, 5, 6});
  CHECK(c.to_vector() == std::vector<float>{1, 4, 9});
  CHECK(d.to_vector() == std::vector<float>{7, 8, 9});
  CHECK(e.to_vector() == std::vector<float>{29, 30, 31});
  CHECK(t.to_vector() == std::vector<float>{6, 7, 8});
  CHECK(g.shape() == std::array<std::int64_t, 2>{3, 3});
  CHECK(g(2, 0) == 3);
  CHECK(h.to_vector() == std::vector<float>{1, 2, 0});
  CHECK(i(0) == Approx(std::log(0.5f)));
  CHECK(j.to_vector() == std::vector<double>{1, 4, 9}); // doubles, as plx::array{1., 2., 3.} is
  CHECK(k.to_vector() == std::vector<float>{3, 2, 1});
  CHECK(l.to_vector() == std::vector<float>{3, 2, 1});
  CHECK(m.to_vector() == std::vector<float>{2, 4, 6});
  CHECK(o.to_vector() == std::vector<float>{2, 3, 4});
}

TEST_CASE("elements of constants are updated at constants and at traced arrays") {
  auto f = plx::jit([](auto x, auto i) {
    auto counted = plx::zeros({2}).at(plx::zeros<std::int32_t>({1000})).add(1.f);
    return std::tuple(counted * x, plx::zeros({4}).at(i).add(x), plx::zeros({2}).at(1).set(x[0]) + x,
                      plx::ones({3})[i] * x, counted.at(0).get() * x);
  });
  auto [a, b, c, d, e] = f(vector{1, 2}, plx::array<std::int32_t, 1>{3, 0});
  CHECK(a.to_vector() == std::vector<float>{1000, 0});
  CHECK(b.to_vector() == std::vector<float>{2, 0, 0, 1});
  CHECK(c.to_vector() == std::vector<float>{1, 3});
  CHECK(d.to_vector() == std::vector<float>{1, 2});
  CHECK(e.to_vector() == std::vector<float>{1000, 2000});
}

TEST_CASE("extents and counts are numbers in arithmetic") {
  auto f = plx::jit([](auto x, auto steps) {
    const auto n = x.shape(0);
    return std::tuple(x * (0.5f * n), plx::sqrt(n) * x, plx::astype<double>(n) / 2, x / steps, x * (steps - 1),
                      (steps + n) * x, plx::maximum(n, 10) * x, plx::arange(n) * 0.1f, n / 2.f + x);
  });
  auto [a, b, c, d, e, g, h, i, j] = f(vector{1, 2, 3, 4}, plx::count(2));
  CHECK(a.to_vector() == std::vector<float>{2, 4, 6, 8});
  CHECK(b.to_vector() == std::vector<float>{2, 4, 6, 8});
  CHECK(c.item() == 2.);
  CHECK(d.to_vector() == std::vector<float>{.5f, 1, 1.5f, 2});
  CHECK(e.to_vector() == std::vector<float>{1, 2, 3, 4});
  CHECK(g.to_vector() == std::vector<float>{6, 12, 18, 24});
  CHECK(h(0) == 10);
  CHECK(i(3) == 0.1f * 3);
  CHECK(j.to_vector() == std::vector<float>{3, 4, 5, 6});
}

TEST_CASE("loops, maps and vmaps of constants alone are part of the function that their functions capture from") {
  auto f = plx::jit([](auto x) {
    const auto n = x.shape(0);
    auto total = plx::fori_loop(0, 3, [&](auto i, auto c) { return c + x * i; }, plx::zeros({3}));
    auto known = plx::fori_loop(0, n, [&](auto i, auto c) { return c.at(i).set(x[i] * 2); }, plx::zeros({n}));
    auto mapped = plx::map([&](auto i) { return x[i] + i; }, plx::arange(3));
    auto rows = plx::vmap([&](auto i) { return x * i; })(plx::arange(2));
    auto scanned = plx::scan([&](auto c, auto i) { return std::pair{c + x[i], c}; }, 0.f, plx::arange(3)).second;
    return std::tuple(total, known, mapped, rows, scanned);
  });
  auto [a, b, c, d, e] = f(vector{1, 2, 3});
  CHECK(a.to_vector() == std::vector<float>{3, 6, 9});
  CHECK(b.to_vector() == std::vector<float>{2, 4, 6});
  CHECK(c.to_vector() == std::vector<float>{1, 3, 5});
  CHECK(d.to_vector() == std::vector<float>{0, 0, 0, 1, 2, 3});
  CHECK(e.to_vector() == std::vector<float>{0, 1, 3});
}

TEST_CASE("an expression of constants alone is computed where an array is made of it") {
  plx::array table = plx::reshape(plx::arange(6), {2, 3});
  CHECK(table.shape() == std::array<std::int64_t, 2>{2, 3});
  CHECK(table(1, 0) == 3);
  plx::array half = plx::log(0.5);
  CHECK(half.item() == std::log(0.5));
  plx::array row = plx::stack({1., 2.});
  CHECK(row.to_vector() == std::vector<double>{1, 2});
  auto constant = plx::jit([](auto) { return plx::astype<double>(plx::reshape(plx::arange(64), {8, 8})); })(0.f);
  CHECK(constant(7, 7) == 63.);
}

TEST_CASE("constants are gathered from and scattered into at traced indices") {
  auto f = plx::jit([](auto i) {
    constexpr plx::gather_dimension_numbers from{
        .offset_dims = {}, .collapsed_slice_dims = {0}, .start_index_map = {0}};
    constexpr plx::scatter_dimension_numbers to{
        .update_window_dims = {}, .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}};
    return std::tuple(plx::gather(plx::array<float, 1>{10, 20, 30, 40}, i, from, {1}),
                      plx::scatter_add(plx::zeros<int>({4}), i, plx::ones<int>({5}), to),
                      plx::scatter_max(plx::arange(4), i, plx::full({5}, 2), to, plx::mode::clip));
  });
  auto [read, counted, largest] = f(plx::array<int, plx::extents<5, 1>>{{1}, {3}, {1}, {0}, {1}});
  CHECK(read.to_vector() == std::vector<float>{20, 40, 20, 10, 20});
  CHECK(counted.to_vector() == std::vector<int>{1, 3, 0, 1});
  CHECK(largest.to_vector() == std::vector<int>{2, 2, 2, 3});
}

TEST_CASE("a program may be given counts alone, or nothing") {
  CHECK(array_equal(plx::array(plx::jit([] { return plx::arange(3) * 2; })()), plx::array<int, 1>{0, 2, 4}));
  auto f = plx::jit([](auto n) { return std::pair{plx::arange(n) * 10, plx::zeros({n, 2})}; });
  for (const std::int64_t n : {0, 1, 4}) {
    auto [numbers, zeros] = f(plx::count(n));
    CHECK(numbers.shape() == std::array<std::int64_t, 1>{n});
    for (std::int64_t i = 0; i < n; ++i) CHECK(numbers(i) == 10 * i);
    CHECK(zeros.shape() == std::array<std::int64_t, 2>{n, 2});
  }
}

} // namespace constants_test
