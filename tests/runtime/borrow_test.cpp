// Arrays in memory of others: nothing is copied.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace borrow_test {

namespace plx = parallax;
using plx::array;
using plx::extents;

namespace {

/// Counts how many owners there were and are.
struct owner {
  std::shared_ptr<int> token;
};

/// What other libraries have in place of std::mdspan.
template <std::size_t Columns> struct strided_view {
  const float* first;
  std::array<std::int64_t, 2> lengths, strides;

  static constexpr std::size_t rank() { return 2; }
  static constexpr std::size_t static_extent(std::size_t r) { return r == 0 ? static_cast<std::size_t>(-1) : Columns; }
  std::int64_t extent(std::size_t r) const { return lengths[r]; }
  std::int64_t stride(std::size_t r) const { return strides[r]; }
  const float* data_handle() const { return first; }
};

constexpr auto product = [](auto a, auto b) { return plx::dot(a, b); };

} // namespace

TEST_CASE("memory of others becomes an array where it is") {
  std::vector<float> v{1, 2, 3, 4, 5, 6};
  const array<float, 2> matrix = plx::borrow(v.data(), {2, 3});
  CHECK(matrix.data() == v.data());
  CHECK(matrix.shape() == std::array<std::int64_t, 2>{2, 3});
  CHECK(matrix(1, 0) == 4);
  const array<float, 1> row = plx::borrow(v);
  CHECK(row.data() == v.data());
  CHECK(row.shape(0) == 6);
  const array<float, 2> halves = plx::borrow(std::span<const float>(v), {2, v.size() / 2});
  CHECK(halves.data() == v.data());
  const auto fixed = plx::borrow<extents<3, 2>>(v);
  static_assert(std::same_as<decltype(fixed), const array<float, extents<3, 2>>>);
  CHECK(fixed.data() == v.data());
  const auto mixed = plx::borrow<extents<plx::dyn, 3>>(v, {2, 3});
  static_assert(std::same_as<decltype(mixed), const array<float, extents<plx::dyn, 3>>>);
  CHECK(mixed.data() == v.data());
  const float plain[4]{1, 2, 3, 4};
  CHECK(plx::borrow(plain).data() == plain);
  CHECK(plx::borrow(plain, {2, 2})(1, 1) == 4);
  CHECK(plx::borrow(v.data() + 1, {2})(0) == 2); // aligned as its elements are
  CHECK(plx::borrow(v.data(), {0, 3}).size() == 0);

  v[3] = 40;
  CHECK(matrix(1, 0) == 40);
}

TEST_CASE("what does not fit is refused") {
  const std::vector<float> v{1, 2, 3, 4, 5, 6};
  CHECK_THROWS_MATCHES(plx::borrow(v, {2, 4}), plx::shape_error,
                       Catch::Message("borrow: 6 elements of memory for the shape (2, 4)"));
  CHECK_THROWS_AS(plx::borrow<extents<5>>(v), plx::shape_error);
  CHECK_THROWS_MATCHES((plx::borrow<extents<plx::dyn, 2>>(v, {2, 3})), plx::shape_error,
                       Catch::Message("array: the shape (2, 3) contradicts the static extents (dyn, 2)"));
  CHECK_THROWS_AS(plx::borrow(v.data(), {-1}), plx::shape_error);
  CHECK_THROWS_MATCHES(plx::borrow(static_cast<const float*>(nullptr), {2}), plx::shape_error,
                       Catch::Message("borrow: a null pointer for the shape (2,)"));
}

TEST_CASE("an owner ends with the last array that uses its memory") {
  auto token = std::make_shared<int>();
  auto values = std::make_shared<std::vector<double>>(std::vector<double>{1, 2, 3});
  {
    array<double, 1> first = plx::borrow(*values, {3}, owner{token});
    array<double, 1> second = first;
    first = {};
    CHECK(token.use_count() == 2);
    CHECK(second(2) == 3);
  }
  CHECK(token.use_count() == 1);
  {
    const double* const data = values->data();
    const array<double, 1> kept = plx::borrow(data, {3}, std::exchange(values, nullptr));
    CHECK(kept.to_vector() == std::vector<double>{1, 2, 3});
  }
  {
    const array<double, 1> none = plx::borrow(std::span<double>(), owner{token});
    CHECK(token.use_count() == 1);
  }
  CHECK_THROWS_AS(plx::borrow(std::span<double>(), {1}, owner{token}), plx::shape_error);
  CHECK(token.use_count() == 1);
}

TEST_CASE("what changes an array in borrowed memory copies it first") {
  std::vector<float> v{1, 2, 3};
  array<float, 1> x = plx::borrow(v);
  x.mutable_data()[0] = 10;
  CHECK(v[0] == 1);
  CHECK(x(0) == 10);
  auto fixed = plx::borrow<extents<3>>(v);
  fixed.mutable_data()[0] = 20;
  CHECK(v[0] == 1);
  CHECK(fixed(0) == 20);
}

TEST_CASE("an array takes over a vector's memory") {
  std::vector<float> v{1, 2, 3, 4, 5, 6};
  const float* const data = v.data();
  array<float, 2> x({2, 3}, std::move(v));
  CHECK(x.data() == data);
  CHECK(x.mutable_data() == data); // nobody else has it
  array<float, 2> copy = x;
  CHECK(copy.mutable_data() != data);
  plx::array deduced({2, 2}, std::vector<int>{1, 2, 3, 4});
  static_assert(std::same_as<decltype(deduced), array<std::int32_t, 2>>);
  CHECK(deduced(1, 0) == 3);

  std::vector<float> kept{1, 2, 3};
  CHECK_THROWS_AS((array<float, 1>({4}, std::move(kept))), plx::shape_error);
  CHECK_THROWS_AS((array<float, extents<2>>({3}, std::move(kept))), plx::shape_error);
  CHECK(kept.size() == 3);
  CHECK(array<float, 1>({0}, std::vector<float>()).size() == 0);
}

TEST_CASE("arrays are viewed with their extents, and views borrowed") {
  const array<float, extents<plx::dyn, 3>> x{{1, 2, 3}, {4, 5, 6}};
  const auto view = plx::as_mdspan(x);
  CHECK(view.data_handle() == x.data());
  CHECK((view.extent(0) == 2 && view.extent(1) == 3 && view.stride(0) == 3 && view.stride(1) == 1));
  CHECK((view.rank() == 2 && view.size() == 6 && !view.empty()));
  static_assert(view.static_extent(1) == 3);
  CHECK(view[std::array<std::int64_t, 2>{1, 2}] == 6);
  const auto again = plx::borrow(view);
  static_assert(std::same_as<decltype(again), const array<float, extents<plx::dyn, 3>>>);
  CHECK(again.data() == x.data());
  CHECK(again.shape() == x.shape());
}

TEST_CASE("elements with strides are read where they lie") {
  std::vector<float> v(60);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
  auto at = [&](std::int64_t first, std::int64_t i, std::int64_t row, std::int64_t j, std::int64_t column) {
    return v[static_cast<std::size_t>(first + i * row + j * column)];
  };
  auto check_block = [&](std::int64_t first, std::int64_t row, std::int64_t column) {
    CAPTURE(first, row, column);
    auto check = [&](const auto& x) {
      const array<float, 2> copy = x, sums = x + x;
      float total = 0;
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 4; ++j) {
          const float expected = at(first, i, row, j, column);
          REQUIRE(copy(i, j) == expected);
          REQUIRE(sums(i, j) == 2 * expected);
          total += expected;
        }
      CHECK(plx::jit([](auto a) { return plx::sum(a); })(x).item() == Approx(total));
      CHECK(array_equal(plx::jit([](auto a) { return plx::reshape(a, {12}); })(x),
                        array<float, 1>(plx::reshape(copy, {12}))));
      CHECK(array_equal(plx::jit(product)(x, plx::transpose(copy)), plx::jit(product)(copy, plx::transpose(copy))));
      CHECK(array_equal(plx::jit(product)(plx::transpose(copy), x), plx::jit(product)(plx::transpose(copy), copy)));
      constexpr auto chain = [](auto a) { return plx::sum(plx::tanh(a * a)); };
      CHECK(array_equal(plx::grad(chain)(x), plx::grad(chain)(copy)));
      CHECK(array_equal(plx::vmap(chain, plx::in_axes<1>)(x), plx::vmap(chain, plx::in_axes<1>)(copy)));
      CHECK(array_equal(plx::pmap(chain)(x).gather(), plx::pmap(chain)(copy).gather()));
      constexpr auto of_tree = [](auto tree) { return std::get<0>(tree) * std::get<1>(tree); };
      CHECK(array_equal(plx::jit(of_tree)(std::tuple(x, 2.f)), sums));
      std::vector<float> result(12);
      plx::jit([](auto a) { return plx::softmax(a, 1); })(x, plx::into(result));
      CHECK(result == plx::jit([](auto a) { return plx::softmax(a, 1); })(copy).to_vector());
    };
    check(plx::borrow(v.data() + first, {3, 4}, {row, column}));
    if (column == 1) check(plx::borrow<plx::strides<plx::dyn, 1>>(v.data() + first, {3, 4}, {row, column}));
    if (row == 1) check(plx::borrow<plx::strides<1, plx::dyn>>(v.data() + first, {3, 4}, {row, column}));
    check(plx::borrow(strided_view<4>{v.data() + first, {3, 4}, {row, column}}));
  };
  check_block(2, 10, 1); // of a wider matrix
  check_block(0, 1, 5);  // columns first
  check_block(1, 20, 3);
  check_block(4, 0, 2); // one row, repeated
  check_block(3, 2, 0);
}

TEST_CASE("rows and columns with strides are operands of products without a copy") {
  std::vector<float> v(60, 0.5f);
  const auto rows = plx::borrow<plx::strides<plx::dyn, 1>>(v, {3, 4}, {10, 1});
  const auto columns = plx::borrow<plx::strides<1, plx::dyn>>(v, {4, 3}, {1, 5});
  const auto any = plx::borrow(v, {3, 4}, {10, 1});
  auto steps_of = [](const auto&... x) {
    using function = plx::detail::of_flat_leaves<decltype(plx::jit(product)), std::remove_cvref_t<decltype(x)>...>;
    auto leaves = std::tuple_cat(plx::detail::flat_leaves(x)...);
    return []<class... Leaves>(std::type_identity<std::tuple<Leaves...>>) {
      using compiled = plx::detail::program<function, plx::detail::abstract_t<Leaves>...>;
      return compiled::plan.section(plx::compiled::section_id::main).steps.count;
    }(std::type_identity<decltype(leaves)>{});
  };
  CHECK(steps_of(rows, columns) == 1);
  CHECK(steps_of(columns, rows) == 1);
  CHECK(steps_of(any, columns) == 2); // no library reads strides of which none is known to be 1
  CHECK(plx::array<float, 2>(plx::dot(rows, columns))(2, 2) == 1);
}

TEST_CASE("strides that are none are refused") {
  std::vector<float> v(10);
  CHECK_THROWS_MATCHES(
      plx::borrow(v, {3, 2}, {4, 2}), plx::shape_error,
      Catch::Message("borrow: 10 elements of memory, and the shape (3, 2) with strides (4, 2) reaches over 11"));
  static_cast<void>(plx::borrow(v, {3, 2}, {4, 1}));
  static_cast<void>(plx::borrow(v, {0, 2}, {40, 1}));
  CHECK_THROWS_MATCHES(plx::borrow(v, {3, 2}, {-4, 1}), plx::shape_error,
                       Catch::Message("borrow: negative stride in (-4, 1)"));
  CHECK_THROWS_MATCHES((plx::borrow<plx::strides<plx::dyn, 1>>(v, {3, 2}, {3, 2})), plx::shape_error,
                       Catch::Message("borrow: the strides (3, 2) contradict the static ones (dyn, 1)"));
  CHECK_THROWS_AS(plx::borrow(v.data(), {1 << 30, 2}, {std::int64_t{1} << 40, 1}), plx::shape_error);
}

} // namespace borrow_test
