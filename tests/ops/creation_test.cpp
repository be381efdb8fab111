// Arrays from nothing: constants, indices, and arrays shaped like others.
#include "ops/reference.hpp"

namespace creation_test {

namespace {

namespace plx = parallax;
using reference::coordinates;

} // namespace

TEST_CASE("constants of every type and shape") {
  plx::array<float, 2> zeros = plx::zeros({2, 3});
  plx::array<int, 1> ones = plx::ones<int>({4});
  plx::array<bool, 1> truths = plx::full<bool>({17}, true);
  plx::array<float, 2> none = plx::ones({0, 3});
  CHECK(zeros.to_vector() == std::vector<float>(6, 0.f));
  CHECK(ones.to_vector() == std::vector<int>(4, 1));
  CHECK(truths.to_vector() == std::vector<bool>(17, true));
  CHECK(none.shape() == std::array<std::int64_t, 2>{0, 3});
  for (std::int64_t n : {1, 5, 1000}) {
    plx::array<float, 2> filled = plx::full({n, 2}, 0.5f);
    CHECK(filled.to_vector() == std::vector<float>(static_cast<std::size_t>(2 * n), 0.5f));
  }
}

TEST_CASE("scalars have an empty shape") {
  plx::array zero = plx::zeros<float>({});
  plx::array one = plx::ones<int>({});
  plx::array<double, 0> half = plx::full<double>({}, 0.5);
  static_assert(decltype(zero)::rank == 0 && decltype(one)::rank == 0);
  CHECK(zero.item() == 0);
  CHECK(one.item() == 1);
  CHECK(half.item() == 0.5);
  plx::array<float, 2> single{{4}};
  CHECK(plx::reshape(single, {}).item() == 4);
  plx::array<float, 0> sum = plx::broadcast_to(plx::sum(single), {}) + zero;
  CHECK(sum.item() == 4);
  auto traced = plx::jit([](auto x) {
    return std::tuple(plx::reshape(x, {}), plx::broadcast_to(plx::sum(x), {}), x + plx::full({}, 2.f));
  });
  auto [element, total, moved] = traced(single);
  CHECK(element.item() == 4);
  CHECK(total.item() == 4);
  CHECK(moved(0, 0) == 6);
}

TEST_CASE("random scalars have an empty shape too") {
  plx::array key = plx::random::key(3);
  auto same = [](const auto& a, const auto& b) {
    plx::array x = a, y = b;
    return x.item() == y.item();
  };
  CHECK(same(plx::random::bits(key, {}), plx::random::bits(key)));
  CHECK(same(plx::random::uniform(key, {}), plx::random::uniform(key)));
  CHECK(same(plx::random::normal(key, {}), plx::random::normal(key)));
  CHECK(same(plx::random::bernoulli(key, 0.5f, {}), plx::random::bernoulli(key, 0.5f)));
  CHECK(same(plx::random::randint(key, {}, 0, 100), plx::random::randint(key, 0, 100)));
  plx::array between = plx::random::uniform(key, {}, 2.f, 3.f);
  CHECK(between.item() >= 2);
}

TEST_CASE("indices along an axis") {
  for (std::int64_t n : {0, 1, 15, 16, 17, 1000}) {
    plx::array<int, 1> numbers = plx::arange(n);
    reference::compare(numbers, reference::tabulate({n}, [](const coordinates& at) { return at[0]; }));
    plx::array<double, 1> halves = plx::arange<double>(n) / 2;
    reference::compare(halves,
                       reference::tabulate({n}, [](const coordinates& at) { return static_cast<double>(at[0]) / 2; }));
  }
  plx::array<int, 3> middle = plx::broadcasted_iota<int, 1>({2, 17, 3});
  reference::compare(middle, reference::tabulate({2, 17, 3}, [](const coordinates& at) { return at[1]; }));
  plx::array<float, 3> last = plx::broadcasted_iota<float, 2>({2, 3, 18});
  reference::compare(last, reference::tabulate({2, 3, 18}, [](const coordinates& at) { return at[2]; }));
}

TEST_CASE("arrays from nothing inside a traced function") {
  auto all = plx::jit([](auto x) {
    auto lower = plx::broadcasted_iota<int, 0>({3, 3}) >= plx::broadcasted_iota<int, 1>({3, 3});
    return std::tuple(x + plx::ones<double>({3}), plx::where(lower, x, 0), plx::zeros_like(x), plx::ones_like(x),
                      plx::full_like(x, 2.5), x * plx::arange<double>(3),
                      plx::sum(plx::full<double>({2, 3}, 0.5) * x, 1));
  });
  auto [sum, triangle, zeros, ones, filled, scaled, sums] = all(plx::array<double, plx::extents<3>>{1, 2, 3});
  CHECK(sum.to_vector() == std::vector<double>{2, 3, 4});
  CHECK(triangle.to_vector() == std::vector<double>{1, 0, 0, 1, 2, 0, 1, 2, 3});
  CHECK(zeros.to_vector() == std::vector<double>{0, 0, 0});
  CHECK(ones.to_vector() == std::vector<double>{1, 1, 1});
  CHECK(filled.to_vector() == std::vector<double>{2.5, 2.5, 2.5});
  CHECK(scaled.to_vector() == std::vector<double>{0, 2, 6});
  CHECK(sums.to_vector() == std::vector<double>{3, 3});
}

TEST_CASE("indices are the same for all that are mapped") {
  reference::check_batching<0>(
      [](auto x) { return std::tuple(x + plx::arange<double>(5), x * plx::ones<double>({2, 5})); },
      reference::array_of<plx::array<double, plx::extents<5>>>(reference::numbers({5}, -1, 1)));
}

TEST_CASE("numbers that no array has as extents are refused before memory is taken") {
  constexpr std::int64_t wide = std::int64_t{1} << 40, wraps = (std::int64_t{1} << 62) + 16;
  const plx::array key = plx::random::key(3);
  const plx::array<float, 1> four{1, 2, 3, 4};
  using vector = plx::array<float, 1>;
  using matrix = plx::array<float, 2>;
  CHECK_THROWS_AS(vector(plx::zeros({-1})), plx::shape_error);
  CHECK_THROWS_AS(matrix(plx::ones({3, -1})), plx::shape_error);
  CHECK_THROWS_AS(matrix(plx::full({0, -1}, 2.f)), plx::shape_error);
  CHECK_THROWS_AS(vector(plx::zeros({wraps})), plx::shape_error);
  CHECK_THROWS_AS(vector(plx::zeros({wraps - 16})), plx::shape_error);
  CHECK_THROWS_AS(matrix(plx::zeros({wide, wide})), plx::shape_error);
  CHECK_THROWS_AS((plx::array<float, 0>(plx::sum(plx::zeros({wide, wide})))), plx::shape_error);
  CHECK_THROWS_AS(matrix(plx::broadcast_to(four, {wraps / 4, 4})), plx::shape_error);
  CHECK_THROWS_AS(matrix(plx::broadcast_to(four, {-1, 4})), plx::shape_error);
  CHECK_THROWS_AS((plx::array<int, 1>(plx::arange(-1))), plx::shape_error);
  CHECK_THROWS_AS((plx::array<int, 1>(plx::arange(wraps))), plx::shape_error);
  CHECK_THROWS_AS((plx::array<int, 2>(plx::broadcasted_iota<int, 0>({2, -3}))), plx::shape_error);
  CHECK_THROWS_AS(vector(plx::random::uniform(key, {-1})), plx::shape_error);
  CHECK_THROWS_AS(vector(plx::random::uniform(key, {wraps})), plx::shape_error);
  CHECK_THROWS_AS(vector(plx::random::normal(key, {-5})), plx::shape_error);
}

TEST_CASE("extents that become negative where the call says so are refused there") {
  constexpr auto fewer = plx::jit([](auto x) { return plx::zeros({x.shape(0) - 3}) + plx::sum(x); });
  constexpr auto wider = plx::jit([](auto x) { return plx::sum(plx::broadcast_to(plx::sum(x), {x.shape(0) - 3, 2})); });
  constexpr auto counted = plx::jit([](auto x) { return plx::arange(x.shape(0) - 3); });
  const plx::array<float, 1> two{1, 2}, five{1, 2, 3, 4, 5};
  CHECK(fewer(five).to_vector() == std::vector<float>{15, 15});
  CHECK(wider(five).item() == 60);
  CHECK(counted(five).to_vector() == std::vector<int>{0, 1});
  CHECK_THROWS_AS(fewer(two), plx::shape_error);
  CHECK_THROWS_AS(wider(two), plx::shape_error);
  CHECK_THROWS_AS(counted(two), plx::shape_error);
}

} // namespace creation_test
