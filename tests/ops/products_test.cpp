// Products of arrays: every combination of ranks, batches, contracted axes, layouts and element types.
#include "ops/reference.hpp"

namespace products_test {

namespace {

namespace plx = parallax;
using reference::coordinates;
using reference::table;

struct dimensions {
  std::vector<std::size_t> left_contract, right_contract, left_batch = {}, right_batch = {};
};

/// The product by definition: batch axes, then the left operand's free axes, then the right operand's.
table product(const table& a, const table& b, const dimensions& d) {
  auto holds = [](const std::vector<std::size_t>& list, std::size_t i) {
    return std::ranges::find(list, i) != list.end();
  };
  coordinates shape, contracted;
  std::vector<std::size_t> left_free, right_free;
  for (std::size_t i : d.left_batch) shape.push_back(a.shape[i]);
  for (std::size_t i = 0; i < a.shape.size(); ++i)
    if (!holds(d.left_contract, i) && !holds(d.left_batch, i)) left_free.push_back(i), shape.push_back(a.shape[i]);
  for (std::size_t i = 0; i < b.shape.size(); ++i)
    if (!holds(d.right_contract, i) && !holds(d.right_batch, i)) right_free.push_back(i), shape.push_back(b.shape[i]);
  for (std::size_t i : d.left_contract) contracted.push_back(a.shape[i]);
  return reference::tabulate(shape, [&](const coordinates& at) {
    coordinates left(a.shape.size()), right(b.shape.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < d.left_batch.size(); ++i, ++next)
      left[d.left_batch[i]] = right[d.right_batch[i]] = at[next];
    for (std::size_t i : left_free) left[i] = at[next++];
    for (std::size_t i : right_free) right[i] = at[next++];
    double sum = 0;
    reference::for_each_index(contracted, [&](const coordinates& k) {
      for (std::size_t i = 0; i < k.size(); ++i) left[d.left_contract[i]] = right[d.right_contract[i]] = k[i];
      sum += a[left] * b[right];
    });
    return sum;
  });
}

/// NumPy's dot, and its matmul where the batch axes are broadcast.
table dot_of(const table& a, const table& b) {
  if (a.shape.empty() || b.shape.empty()) return product(a, b, {{}, {}});
  return product(a, b, {{a.shape.size() - 1}, {b.shape.size() > 1 ? b.shape.size() - 2 : 0}});
}
table matmul_of(table a, table b) {
  bool row = a.shape.size() == 1, column = b.shape.size() == 1;
  if (row) a.shape.insert(a.shape.begin(), 1);
  if (column) b.shape.push_back(1);
  std::size_t rank = std::max(a.shape.size(), b.shape.size());
  while (a.shape.size() < rank) a.shape.insert(a.shape.begin(), 1);
  while (b.shape.size() < rank) b.shape.insert(b.shape.begin(), 1);
  coordinates shape;
  for (std::size_t i = 0; i + 2 < rank; ++i) shape.push_back(std::max(a.shape[i], b.shape[i]));
  shape.push_back(a.shape[rank - 2]);
  shape.push_back(b.shape[rank - 1]);
  table result = reference::tabulate(shape, [&](const coordinates& at) {
    coordinates left = at, right = at;
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      if (a.shape[i] == 1) left[i] = 0;
      if (b.shape[i] == 1) right[i] = 0;
    }
    double sum = 0;
    for (std::int64_t k = 0; k < a.shape[rank - 1]; ++k) {
      left[rank - 1] = right[rank - 2] = k;
      sum += a[left] * b[right];
    }
    return sum;
  });
  if (column) result.shape.pop_back();
  if (row) result.shape.erase(result.shape.end() - (column ? 1 : 2));
  return result;
}

constexpr auto dot = [](auto x, auto y) { return plx::dot(x, y); };
constexpr auto matmul = [](auto x, auto y) { return plx::matmul(x, y); };
constexpr auto dot_and_matmul = [](auto x, auto y) { return std::tuple(plx::dot(x, y), plx::matmul(x, y)); };

template <int Rank> auto left_of(const coordinates& shape) {
  return reference::array_of<double, Rank>(reference::numbers(shape, -1, 1));
}
template <int Rank> auto right_of(const coordinates& shape) {
  return reference::array_of<double, Rank>(reference::numbers(shape, -1, 1, 0.3));
}

template <class X, class Y> void check_dot_and_matmul(const X& x, const Y& y) {
  table a = reference::table_of(x), b = reference::table_of(y);
  auto [dotted, multiplied] = plx::jit(dot_and_matmul)(x, y);
  reference::compare(dotted, dot_of(a, b), 1e-13, 1e-13);
  reference::compare(multiplied, matmul_of(a, b), 1e-13, 1e-13);
}

} // namespace

TEST_CASE("dot and matmul of vectors and matrices") {
  check_dot_and_matmul(left_of<1>({4}), right_of<1>({4}));
  check_dot_and_matmul(left_of<1>({4}), right_of<2>({4, 3}));
  check_dot_and_matmul(left_of<2>({3, 4}), right_of<1>({4}));
  for (const coordinates& n :
       {coordinates{3, 4, 2}, coordinates{1, 1, 1}, coordinates{17, 16, 15}, coordinates{1, 1000, 1},
        coordinates{64, 3, 65}, coordinates{0, 3, 2}, coordinates{2, 0, 3}, coordinates{2, 3, 0}})
    check_dot_and_matmul(left_of<2>({n[0], n[1]}), right_of<2>({n[1], n[2]}));
  check_dot_and_matmul(left_of<1>({0}), right_of<1>({0}));
}

TEST_CASE("dot and matmul of higher ranks") {
  check_dot_and_matmul(left_of<3>({2, 3, 4}), right_of<1>({4}));
  check_dot_and_matmul(left_of<1>({4}), right_of<3>({2, 4, 3}));
  check_dot_and_matmul(left_of<3>({2, 3, 4}), right_of<2>({4, 5}));
  check_dot_and_matmul(left_of<2>({5, 4}), right_of<3>({2, 4, 3}));
  check_dot_and_matmul(left_of<3>({2, 3, 4}), right_of<3>({2, 4, 5}));
}

TEST_CASE("matmul broadcasts its batch axes") {
  using plx::extents, plx::dyn;
  auto check = [](const auto& x, const auto& y) {
    reference::compare(plx::jit(matmul)(x, y), matmul_of(reference::table_of(x), reference::table_of(y)), 1e-13, 1e-13);
  };
  auto shared = reference::array_of<plx::array<double, extents<2, 1, 3, 4>>>(reference::numbers({2, 1, 3, 4}, -1, 1));
  auto own = reference::array_of<plx::array<double, extents<1, 5, 4, 3>>>(reference::numbers({1, 5, 4, 3}, -1, 1, 0.2));
  check(shared, own);
  check(shared, right_of<3>({5, 4, 3}));
  check(left_of<4>({2, 5, 3, 4}), right_of<3>({5, 4, 3}));
  check(left_of<2>({3, 4}), own);
}

TEST_CASE("a number times an array is their dot") {
  auto both = plx::jit([](auto x, auto y) { return std::tuple(plx::dot(x, y), plx::dot(2.f, y), plx::dot(x, x)); });
  auto [scaled, doubled, squared] = both(plx::array<float, 0>(3), plx::array<float, 2>{{1, 2}, {3, 4}});
  CHECK(scaled.to_vector() == std::vector<float>{3, 6, 9, 12});
  CHECK(doubled.to_vector() == std::vector<float>{2, 4, 6, 8});
  CHECK(squared.item() == 9);
}

TEST_CASE("gradients and batches of dot") {
  auto check = [](const auto& x, const auto& y) {
    reference::check_gradient(dot, x, y);
    reference::check_batching<0, 0>(dot, x, y);
    reference::check_batching<1, -1>(dot, x, y);
    reference::check_batching<-1, 1>(dot, x, y);
  };
  check(left_of<1>({4}), right_of<1>({4}));
  check(left_of<2>({3, 4}), right_of<1>({4}));
  check(left_of<2>({3, 4}), right_of<2>({4, 2}));
}

TEST_CASE("gradients and batches of matmul with batch axes") {
  auto x = left_of<3>({2, 3, 4});
  auto y = reference::array_of<plx::array<double, plx::extents<1, 4, 5>>>(reference::numbers({1, 4, 5}, -1, 1, 0.2));
  reference::check_gradient(matmul, x, y);
  reference::check_batching<1, 2>(matmul, x, right_of<3>({2, 4, 2}));
  reference::check_batching<-1, 0>(matmul, x, right_of<2>({4, 5}));
}

TEST_CASE("general products over any axes") {
  constexpr auto several = [](auto x, auto y) {
    return std::tuple(plx::dot_general(x, y, {{1, 2}, {2, 0}}), plx::dot_general(x, y, {{2}, {0}, {0}, {1}}),
                      plx::dot_general(x, y, {{-1, 1}, {0, -1}, {0}, {1}}),
                      plx::dot_general(x, y, {{}, {}, {2, 0}, {0, 1}}), plx::dot_general(x, y, {{0}, {1}}));
  };
  auto x = left_of<3>({2, 3, 4}), y = right_of<3>({4, 2, 3});
  table a = reference::table_of(x), b = reference::table_of(y);
  const dimensions expected[] = {
      {{1, 2}, {2, 0}}, {{2}, {0}, {0}, {1}}, {{2, 1}, {0, 2}, {0}, {1}}, {{}, {}, {2, 0}, {0, 1}}, {{0}, {1}}};
  std::vector<table> actual = reference::tables_of(plx::jit(several)(x, y));
  for (std::size_t k = 0; k < std::size(expected); ++k) {
    INFO("product " << k);
    compare(actual[k], product(a, b, expected[k]), 1e-14, 1e-14);
  }
  reference::check_gradient(several, x, y);
  reference::check_batching<0, 0>(several, x, y);
  reference::check_batching<2, -1>(several, x, y);
  reference::check_batching<-1, 3>(several, x, y);
}

TEST_CASE("operands that are transposed, sliced or broadcast are multiplied alike") {
  constexpr auto views = [](auto x, auto y) {
    auto row = plx::slice_in_dim(x, 0, 1);
    return std::tuple(plx::dot(plx::transpose(x), y), plx::dot(plx::transpose(y), x),
                      plx::dot(plx::slice(x, {0, 1}, {6, 4}, {2, 1}), plx::slice_in_dim(y, 1, 4)),
                      plx::dot(plx::transpose(plx::slice_in_dim(x, plx::none, plx::none, 2, 1)), 2 * y + 1),
                      plx::dot(plx::broadcast_to(row, {5, 6}), y));
  };
  auto x = reference::array_of<plx::array<double, plx::extents<6, 6>>>(reference::numbers({6, 6}, -1, 1));
  auto y = reference::array_of<plx::array<double, plx::extents<6, 4>>>(reference::numbers({6, 4}, -1, 1, 0.3));
  table a = reference::table_of(x), b = reference::table_of(y);
  auto transposed = [](const table& t) {
    return reference::tabulate({t.shape[1], t.shape[0]}, [&](const coordinates& at) { return t[{at[1], at[0]}]; });
  };
  std::vector<table> expected{
      dot_of(transposed(a), b), dot_of(transposed(b), a),
      dot_of(reference::tabulate({3, 3}, [&](const coordinates& at) { return a[{2 * at[0], at[1] + 1}]; }),
             reference::tabulate({3, 4}, [&](const coordinates& at) { return b[{at[0] + 1, at[1]}]; })),
      dot_of(reference::tabulate({3, 6}, [&](const coordinates& at) { return a[{at[1], 2 * at[0]}]; }),
             reference::tabulate({6, 4}, [&](const coordinates& at) { return 2 * b[at] + 1; })),
      dot_of(reference::tabulate({5, 6}, [&](const coordinates& at) { return a[{0, at[1]}]; }), b)};
  std::vector<table> actual = reference::tables_of(plx::jit(views)(x, y));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    INFO("product " << k);
    compare(actual[k], expected[k], 1e-14, 1e-14);
  }
  reference::check_gradient(views, x, y);
}

TEST_CASE("vdot flattens, outer multiplies all pairs") {
  constexpr auto both = [](auto x, auto y) { return std::tuple(plx::vdot(x, y), plx::outer(x, y)); };
  auto x = left_of<2>({2, 3}), y = right_of<2>({3, 2});
  auto [inner, pairs] = plx::jit(both)(x, y);
  table a = reference::table_of(x), b = reference::table_of(y);
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) sum += a.values[i] * b.values[i];
  CHECK(inner.item() == Approx(sum));
  auto pair = [&](const coordinates& at) {
    return a.values[static_cast<std::size_t>(at[0])] * b.values[static_cast<std::size_t>(at[1])];
  };
  reference::compare(pairs, reference::tabulate({6, 6}, pair));
  reference::check_gradient(both, x, y);
  reference::check_batching<1, 0>(both, x, y);
}

TEST_CASE("float32 products agree with float64 ones, static extents with dynamic ones") {
  table a = reference::numbers({33, 70}, -1, 1), b = reference::numbers({70, 17}, -1, 1, 0.3);
  auto single = plx::jit(dot)(reference::array_of<float, 2>(a), reference::array_of<float, 2>(b));
  reference::compare(single, dot_of(a, b), 1e-5, 1e-5);
  auto fixed = plx::jit(dot)(reference::array_of<plx::array<double, plx::extents<33, 70>>>(a),
                             reference::array_of<plx::array<double, plx::extents<70, plx::dyn>>>(b));
  static_assert(std::is_same_v<decltype(fixed), plx::array<double, plx::extents<33, plx::dyn>>>);
  reference::compare(fixed, dot_of(a, b), 1e-13, 1e-13);
}

TEST_CASE("integers are multiplied exactly, and promoted") {
  auto product_of = plx::jit([](auto x, auto y) { return std::tuple(plx::dot(x, y), plx::matmul(y, x)); });
  plx::array<int, 2> x{{1, -2, 3}, {4, 5, 2147483647}};
  plx::array<int, 2> y{{1, 2}, {3, 4}, {5, 2}};
  auto [small, large] = product_of(x, y);
  static_assert(std::is_same_v<decltype(small)::value_type, int>);
  CHECK(small.to_vector() ==
        std::vector<int>{10, 0, static_cast<int>(19u + 5u * 2147483647u), static_cast<int>(28u + 2u * 2147483647u)});
  CHECK(large(0, 0) == 9);
  auto [mixed, _] = product_of(x, plx::array<double, 2>{{0.5, 1}, {1, 1}, {1, 0}});
  static_assert(std::is_same_v<decltype(mixed)::value_type, double>);
  CHECK(mixed(0, 0) == 1.5);
  CHECK(mixed(1, 0) == 2147483654.);
}

TEST_CASE("extents that do not agree at the call are an error that names them") {
  auto multiply = plx::jit(dot);
  CHECK_THROWS_AS(multiply(left_of<2>({3, 4}), right_of<2>({3, 4})), plx::shape_error);
  CHECK_THROWS_AS(multiply(left_of<1>({3}), right_of<1>({4})), plx::shape_error);
}

TEST_CASE("a product reads its operand right where a view between that and its memory is kept too") {
  constexpr auto kept_between = [](auto x, auto w) {
    auto kept = plx::transpose(x);
    return std::pair{kept, plx::dot(plx::slice_in_dim(kept, 0, plx::none, 2, 1), w)};
  };
  const auto x = left_of<2>({40, 30}), w = right_of<2>({20, 5});
  const auto [transposed, found] = plx::jit(kept_between)(x, w);
  CHECK(transposed(7, 11) == x(11, 7));
  for (std::int64_t i = 0; i < 30; ++i)
    for (std::int64_t j = 0; j < 5; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 20; ++k) sum += static_cast<double>(x(2 * k, i)) * static_cast<double>(w(k, j));
      REQUIRE(static_cast<double>(found(i, j)) == Approx(sum).margin(1e-4));
    }
}

} // namespace products_test
