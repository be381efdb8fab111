// Results in memory of the caller: nothing is copied.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace into_test {

namespace plx = parallax;
using plx::array;
using plx::extents;

namespace {

/// Notes where the memory is that a program's operation reads and writes.
struct noting {
  static inline const float* read = nullptr;
  static inline float* written = nullptr;
  static void host(plx::ffi_buffer<const float, 1> x, plx::ffi_buffer<float, 1> y) {
    read = x.data();
    written = y.data();
    for (std::int64_t i = 0; i < x.size(); ++i) y.data()[i] = 2 * x.data()[i];
  }
  static constexpr auto shape(auto x) { return x; }
};
constexpr auto noted = [](auto x) { return plx::custom_call<noting>(x); };

constexpr auto twice_and_sums = [](auto x) { return std::pair{x + x, plx::sum(x, 1)}; };
constexpr auto product = [](auto a, auto b) { return plx::dot(a, b); };

} // namespace

TEST_CASE("results lie in memory of the caller") {
  const std::vector<float> v{1, 2, 3, 4, 5, 6};
  std::vector<float> twice(6), sums(2), products(4);
  auto check = [&](const auto& x) {
    twice.assign(6, 0), sums.assign(2, 0);
    plx::jit(twice_and_sums)(x, plx::into(twice, sums.data()));
    CHECK(twice == std::vector<float>{2, 4, 6, 8, 10, 12});
    CHECK(sums == std::vector<float>{6, 15});
  };
  check(plx::borrow(v, {2, 3}));
  check(plx::borrow<extents<2, 3>>(v));
  plx::jit(product)(plx::borrow(v, {2, 3}), plx::borrow(v, {3, 2}), plx::into(products));
  CHECK(products == std::vector<float>{22, 28, 49, 64});
  double number = 0;
  plx::grad([](auto x) { return x * x; })(3.0, plx::into(&number));
  CHECK(number == 6);
  float squares[3];
  plx::vmap([](auto x) { return x * x; })(array<float, 1>{1, 2, 3}, plx::into(squares));
  CHECK(squares[2] == 9);
  plx::evaluate(plx::borrow(v) * 2.f + 1.f, plx::into(twice));
  CHECK(twice == std::vector<float>{3, 5, 7, 9, 11, 13});
}

TEST_CASE("operations read memory of the caller and write to it themselves: nothing is copied") {
  const std::vector<float> x(1000, 1.5f);
  std::vector<float> y(1000);
  auto check = [&](const float* from) {
    CHECK(noting::read == from);
    CHECK(noting::written == y.data());
    CHECK(y == std::vector<float>(1000, 3.f));
    y.assign(1000, 0.f);
  };
  plx::jit(noted)(plx::borrow(x), plx::into(y));
  check(x.data());
  const auto lent = plx::borrow<extents<1000>>(x.data());
  plx::jit(noted)(lent, plx::into(y.data()));
  check(x.data());
  const array<float, 1> taken({1000}, std::vector<float>(1000, 1.5f));
  plx::jit(noted)(taken, plx::into(y));
  check(taken.data());
}

TEST_CASE("a large chain and a loop of several steps write into memory of the caller, too") {
  std::vector<float> x(100'000, 0.5f), y(100'000), expected(100'000);
  constexpr auto normalised = [](auto a) { return plx::exp(a) / plx::sum(plx::exp(a)); };
  plx::jit(normalised)(plx::borrow(x), plx::into(y));
  CHECK(plx::jit(normalised)(array<float, 1>({100'000}, x)).to_vector() == y);
}

TEST_CASE("the results of a pmap are put together in memory of the caller") {
  const array<float, 2> x{{1, 2, 3}, {4, 5, 6}};
  std::vector<float> y(6), total(2);
  plx::pmap<"i">([](auto row) { return std::pair{row * 2.f, plx::psum<"i">(plx::sum(row))}; })(x, plx::into(y, total));
  CHECK(y == std::vector<float>{2, 4, 6, 8, 10, 12});
  CHECK(total == std::vector<float>{21, 21});
}

TEST_CASE("memory that results cannot be written to is refused before anything is written") {
  std::vector<float> v{1, 2, 3, 4, 5, 6}, small(5, -1), sums(2, -1), twice(6, -1);
  auto check = [&](const auto& x) {
    CHECK_THROWS_MATCHES(plx::jit(twice_and_sums)(x, plx::into(small, sums)), plx::shape_error,
                         Catch::Message("into: the memory of result 0 has 5 elements, and the result 6"));
    CHECK_THROWS_MATCHES(
        plx::jit(twice_and_sums)(x, plx::into(v, sums)), plx::shape_error,
        Catch::Message("into: the memory of result 0 overlaps an argument, which is read while results are written"));
    CHECK_THROWS_MATCHES(plx::jit(twice_and_sums)(x, plx::into(twice.data(), twice.data() + 4)), plx::shape_error,
                         Catch::Message("into: the memory of result 1 overlaps that of result 0"));
    CHECK(v == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK((sums == std::vector<float>(2, -1) && twice == std::vector<float>(6, -1)));
  };
  check(plx::borrow(v, {2, 3}));
  check(plx::borrow<extents<2, 3>>(v));
  float* const nowhere = nullptr;
  const auto check_null = [&](const auto& x) {
    CHECK_THROWS_MATCHES(
        plx::jit(twice_and_sums)(x, plx::into(twice, nowhere)), plx::shape_error,
        Catch::Message("into: the memory of result 1 is a null pointer, and the result has 2 elements"));
    CHECK(twice == std::vector<float>(6, -1));
  };
  check_null(plx::borrow(v, {2, 3}));
  check_null(plx::borrow<extents<2, 3>>(v));
  CHECK_THROWS_AS(plx::pmap(twice_and_sums)(plx::borrow(v, {2, 1, 3}), plx::into(nowhere, sums)), plx::shape_error);
  const auto none = plx::array<float, 1>::uninitialised({0}); // whose results may lie nowhere
  CHECK_NOTHROW(plx::jit([](auto x) { return x * 2.f; })(none, plx::into(nowhere)));
  CHECK_THROWS_AS(plx::pmap(twice_and_sums)(plx::borrow(v, {2, 1, 3}), plx::into(v, sums)), plx::shape_error);
  CHECK_THROWS_AS(plx::pmap(twice_and_sums)(plx::borrow(v, {2, 1, 3}), plx::into(small, sums)), plx::shape_error);
}

} // namespace into_test
