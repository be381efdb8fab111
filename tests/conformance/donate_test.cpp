// Donated arguments: results in their memory, and what is left of them.
#include "expected.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace donate_test {

namespace {

namespace plx = parallax;

using vector = plx::array<float, 1>;

vector counted(std::int64_t n) {
  auto x = vector::uninitialised({n});
  std::iota(x.mutable_data(), x.mutable_data() + n, 1.f);
  return x;
}
bool is_used_up(const vector& x) {
  try {
    static_cast<void>(x(0));
  } catch (const plx::shape_error&) {
    return false;
  } catch (const plx::error&) {
    return true;
  }
  return false;
}

/// What tells memory apart, on the host or a device.
template <class Array> const void* memory_of(const Array& x) {
  if (const auto* const there = x.storage().on_device()) return there;
  return x.data();
}
/// The same array where results are: on the host, or a device.
constexpr auto placed = plx::jit([](auto x) { return x * 1.f; });

template <class T> struct state {
  T weights, momentum;
};

constexpr auto step = plx::jit(
    [](auto s, auto gradient) {
      const auto momentum = s.momentum * .5f + gradient;
      return state{s.weights - momentum * .1f, momentum};
    },
    plx::donate<0>);

} // namespace

TEST_CASE("results that are computed element by element lie where donated arguments lay") {
  constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<0>);
  vector x = placed(counted(1000));
  const void* const memory = memory_of(x);
  const vector y = twice(x);
  CHECK(memory_of(y) == memory);
  CHECK(y(999) == 2000.f);
  CHECK(is_used_up(x));
  x = counted(3); // which may be used again
  CHECK(twice(std::move(x))(2) == 6.f);
}

TEST_CASE("a training step holds its state once") {
  state<vector> s{placed(counted(5000)), placed(counted(5000))};
  std::vector<double> weights(5000), momentum(5000);
  std::iota(weights.begin(), weights.end(), 1.0);
  momentum = weights;
  const vector gradient = counted(5000);
  const std::vector<const void*> memory{memory_of(s.weights), memory_of(s.momentum)};
  for (int k = 0; k < 3; ++k) {
    s = step(s, gradient);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      momentum[i] = momentum[i] * .5 + static_cast<double>(i + 1);
      weights[i] -= momentum[i] * .1;
    }
    CHECK(std::vector<const void*>{memory_of(s.weights), memory_of(s.momentum)} == memory);
    CHECK(s.weights(1) == Approx(weights[1])); // which is read each time
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    REQUIRE(s.weights.data()[i] == Approx(weights[i]).epsilon(1e-5));
    REQUIRE(s.momentum.data()[i] == Approx(momentum[i]).epsilon(1e-5));
  }
  CHECK(gradient(4999) == 5000.f);
}

TEST_CASE("what shares memory with a donated array keeps it") {
  constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<0>);
  vector x = placed(counted(100));
  const vector other = x;
  const vector y = twice(x);
  CHECK(memory_of(y) != memory_of(other));
  CHECK(other(99) == 100.f);
  CHECK(y(99) == 200.f);
  CHECK(is_used_up(x));
  // memory of others is not written
  std::vector<float> theirs(100, 3.f);
  vector borrowed = plx::borrow(theirs.data(), {100});
  CHECK(twice(borrowed)(0) == 6.f);
  CHECK(theirs[0] == 3.f);
}

TEST_CASE("results that read elsewhere in an argument are right") {
  using matrix = plx::array<float, 2>;
  const auto check = [](auto function, auto expected) {
    auto x = matrix::uninitialised({20, 20});
    std::iota(x.mutable_data(), x.mutable_data() + 400, 1.f);
    const matrix before = matrix({20, 20}, x.values());
    x = placed(x);
    const matrix y = function(x);
    for (std::int64_t r = 0; r < 20; ++r)
      for (std::int64_t c = 0; c < 20; ++c) REQUIRE(y(r, c) == expected(before, r, c));
    CHECK_THROWS_AS(x(0, 0), plx::error);
  };
  check(plx::jit([](auto x) { return plx::transpose(x) - x; }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(c, r) - x(r, c); });
  check(plx::jit([](auto x) { return plx::transpose(x) * 2.f; }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return 2 * x(c, r); });
  check(plx::jit([](auto x) { return x - plx::sum(x); }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(r, c) - 200.f * 401; });
  check(plx::jit([](auto x) { return x * plx::sum(x, {0}, true); }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(r, c) * (20 * x(0, c) + 20 * 190); });
  check(plx::jit([](auto x) { return plx::matmul(x, x) * 0.f + x; }, plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(r, c); });
  check(plx::jit([](auto x) { return x; }, plx::donate<0>), [](const matrix& x, auto r, auto c) { return x(r, c); });
  check(plx::jit([](auto x) { return plx::cumsum(x, 1); }, plx::donate<0>), [](const matrix& x, auto r, auto c) {
    float sum = 0;
    for (std::int64_t k = 0; k <= c; ++k) sum += x(r, k);
    return sum;
  });
  check(plx::jit([](auto x) { return plx::fori_loop(0, 3, [&](auto, auto v) { return v + plx::transpose(x); }, x); },
                 plx::donate<0>),
        [](const matrix& x, auto r, auto c) { return x(r, c) + 3 * x(c, r); });
}

TEST_CASE("a transposed matrix lies elsewhere") {
  constexpr auto f = plx::jit([](auto x) { return plx::transpose(x) * 2.f; }, plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({300, 300});
  std::iota(x.mutable_data(), x.mutable_data() + 90000, 1.f);
  x = placed(x);
  const auto y = f(x);
  for (std::int64_t i = 0; i < 90000; ++i) REQUIRE(y(i % 300, i / 300) == 2 * static_cast<float>(i + 1));
}

TEST_CASE("of several results, those take a donated argument that nothing reads it after") {
  constexpr auto several =
      plx::jit([](auto x) { return std::tuple(x + 1.f, plx::transpose(x), x * x, plx::sum(x)); }, plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({30, 30});
  std::iota(x.mutable_data(), x.mutable_data() + 900, 1.f);
  x = placed(x);
  const auto [a, b, c, sum] = several(x);
  for (std::int64_t i = 0; i < 900; ++i) {
    const auto v = static_cast<float>(i + 1);
    REQUIRE(a(i / 30, i % 30) == v + 1);
    REQUIRE(b(i % 30, i / 30) == v);
    REQUIRE(c(i / 30, i % 30) == v * v);
  }
  CHECK(sum() == 450.f * 901);
  CHECK(memory_of(a) != memory_of(c));
  CHECK(memory_of(a) != memory_of(b));
}

TEST_CASE("a result that is stored before an argument is read does not take its memory") {
  constexpr auto two = plx::jit(
      [](auto x, auto y) {
        const auto twice = y * 2.f;
        return std::tuple(twice, x + plx::sqrt(twice));
      },
      plx::donate<0>);
  vector x = placed(counted(700));
  const auto [twice, sum] = two(x, plx::array<float, 1>::filled({700}, 8.f));
  CHECK(twice(699) == 16.f);
  for (std::int64_t i = 0; i < 700; ++i) REQUIRE(sum(i) == static_cast<float>(i + 1) + 4);
}

TEST_CASE("rows that are read once more after a part of them was stored") {
  constexpr auto weighted = plx::jit(
      [](auto x) {
        const auto parts = plx::exp(x - plx::max(x, {1}, true));
        return std::tuple(parts, parts / plx::sum(parts, {1}, true) + x);
      },
      plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({5, 70});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<float>(i * i % 13) / 4;
  const std::vector<float> before = x.to_vector();
  x = placed(x);
  const auto [parts, y] = weighted(x);
  for (std::size_t r = 0; r < 5; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < 70; ++c) sum += std::exp(static_cast<double>(before[r * 70 + c]) - 3);
    for (std::size_t c = 0; c < 70; ++c) {
      const double own = static_cast<double>(before[r * 70 + c]);
      REQUIRE(parts.data()[r * 70 + c] == Approx(std::exp(own - 3)).epsilon(1e-5));
      REQUIRE(y.data()[r * 70 + c] == Approx(std::exp(own - 3) / sum + own).epsilon(1e-5));
    }
  }
}

TEST_CASE("rows that are normalised where they lie") {
  constexpr auto normalised = plx::jit(
      [](auto x) {
        const auto mean = plx::mean(x, {1}, true);
        const auto centred = x - mean;
        return std::tuple(centred / plx::sqrt(plx::mean(centred * centred, {1}, true) + 1e-5f), centred);
      },
      plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({7, 33});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<float>(i * i % 19);
  const std::vector<float> before = x.to_vector();
  x = placed(x);
  const auto [y, centred] = normalised(x);
  for (std::size_t r = 0; r < 7; ++r) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < 33; ++c) mean += static_cast<double>(before[r * 33 + c]) / 33;
    for (std::size_t c = 0; c < 33; ++c) {
      const double from = static_cast<double>(before[r * 33 + c]) - mean;
      variance += from * from / 33;
    }
    for (std::size_t c = 0; c < 33; ++c) {
      const double from = static_cast<double>(before[r * 33 + c]) - mean;
      CHECK(centred.data()[r * 33 + c] == Approx(from).margin(1e-4));
      CHECK(y.data()[r * 33 + c] == Approx(from / std::sqrt(variance + 1e-5)).margin(1e-4));
    }
  }
}

TEST_CASE("a call that is refused leaves donated arguments as they were") {
  constexpr auto sum = plx::jit([](auto x, auto y) { return x + y; }, plx::donate<0>);
  vector x = counted(10);
  CHECK_THROWS_AS(sum(x, counted(11)), plx::shape_error);
  CHECK(x(9) == 10.f);
  CHECK(sum(x, counted(10))(9) == 20.f);
}

TEST_CASE("an array that is another argument too is not taken") {
  constexpr auto sums =
      plx::jit([](auto x, auto y) { return plx::cumsum(x, 0) + plx::cumsum(y * 2.f, 0); }, plx::donate<0>);
  constexpr auto crossed =
      plx::jit([](auto x, auto y) { return std::pair(x * 2.f, plx::cumsum(y, 0)); }, plx::donate<0>);
  vector x = placed(counted(400));
  CHECK(sums(x, x)(399) == 3 * 400.f * 401 / 2);
  x = placed(counted(400));
  const auto [twice, sum] = crossed(x, x);
  for (std::int64_t i = 0; i < 400; ++i) {
    REQUIRE(twice(i) == 2 * static_cast<float>(i + 1));
    REQUIRE(sum(i) == static_cast<float>((i + 1) * (i + 2) / 2));
  }
  constexpr auto mapped = plx::pmap<"i">([](auto a, auto b) { return a * 2.f + plx::cumsum(b, 0); }, plx::donate<0>);
  constexpr auto f = plx::pmap<"i">([](auto a) { return a * 1.f; });
  auto rows = f(plx::array<float, 2>::filled({4, 50}, 1.f));
  CHECK(mapped(rows, rows)(3, 49) == 52.f);
}

TEST_CASE("the same program gives another argument's memory away") {
  constexpr auto f = [](auto x, auto y) { return x * 2.f + y; };
  constexpr auto first = plx::jit(f, plx::donate<0>);
  constexpr auto second = plx::jit(f, plx::donate<1>);
  for (int k = 0; k < 4; ++k) {
    vector x = placed(counted(100)), y = placed(counted(100));
    CHECK(first(x, y)(99) == 300.f);
    CHECK(y(99) == 100.f);
    x = placed(counted(100));
    CHECK(second(x, y)(99) == 300.f);
    CHECK(x(99) == 100.f);
    CHECK(is_used_up(y));
  }
}

TEST_CASE("what needs more devices than there are is refused, and leaves its arguments") {
  constexpr auto f = plx::pmap<"i">([](auto x) { return x * 2.f; }, plx::donate<0>);
  auto x = plx::array<float, 2>::filled({plx::device_count() + 1, 30}, 1.f);
  CHECK_THROWS_AS(f(x), plx::shape_error);
  CHECK(x(0, 29) == 1.f);
}

TEST_CASE("numbers and small arrays of static extents may be donated, and are copied") {
  constexpr auto sum = plx::jit([](auto x, auto y) { return x + y; }, plx::donate<0, 1>);
  plx::array<float, plx::extents<3>> x{1, 2, 3};
  float y = 1;
  CHECK(sum(x, y)(2) == 4.f);
}

TEST_CASE("a mapped function's results stay on their devices in the memory of what was donated") {
  constexpr auto f = plx::pmap<"i">([](auto x) { return x + plx::psum<"i">(x * x) * 0.f + 1.f; });
  constexpr auto in_place = plx::pmap<"i">([](auto x) { return x * 2.f; }, plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({4, 100});
  std::iota(x.mutable_data(), x.mutable_data() + 400, 0.f);
  auto y = f(x);
  const auto memory = [](const auto& of) -> const void* {
    if (const auto* const there = of.shard_buffer(3).on_device()) return there;
    return of.shard_buffer(3).data();
  };
  const void* const before = memory(y);
  const auto z = in_place(y);
  CHECK(memory(z) == before);
  CHECK(z(3, 99) == 800.f);
  CHECK_THROWS_AS(y(0, 0), plx::error);
}

TEST_CASE("a sum over devices lies in the memory of what was donated, and of nothing else") {
  constexpr auto placed_alike = plx::pmap<"i">([](auto x) { return x * 1.f; });
  const auto memory = [](const auto& of, int position) -> const void* {
    if (const auto* const there = of.shard_buffer(position).on_device()) return there;
    return of.shard_buffer(position).data();
  };
  auto x = plx::array<float, 2>::uninitialised({4, 500});
  std::iota(x.mutable_data(), x.mutable_data() + 2000, 0.f);
  const auto sum_of = [&](std::int64_t i) { return x(0, i) + x(1, i) + x(2, i) + x(3, i); };

  auto given = placed_alike(x);
  const void* const before = memory(given, 2);
  const auto sum = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v); }, plx::donate<0>)(given);
  CHECK(memory(sum, 2) == before);
  CHECK_THROWS_AS(given(0, 0), plx::error);

  const auto kept = placed_alike(x);
  const auto of_kept = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v); })(kept);
  CHECK(memory(of_kept, 2) != memory(kept, 2));

  auto read_again = placed_alike(x);
  const auto [most, rest] = plx::pmap<"i">([](auto v) { return std::pair{plx::pmax<"i">(v), v - plx::psum<"i">(v)}; },
                                           plx::donate<0>)(read_again);
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t i = 0; i < 500; ++i) {
      REQUIRE((sum(r, i) == sum_of(i) && of_kept(r, i) == sum_of(i) && kept(r, i) == x(r, i)));
      REQUIRE((most(r, i) == x(3, i) && rest(r, i) == x(r, i) - sum_of(i)));
    }
}

TEST_CASE("a sum over devices of what they have in one memory") {
  using plx::in_specs;
  using plx::out_specs;
  using plx::spec;
  constexpr auto mesh = plx::mesh<plx::device_axis("i", 2), plx::device_axis("j", 2)>;
  constexpr auto f = plx::shard_map([](auto x) { return plx::psum<"j">(x); }, mesh, in_specs<spec<"i">>,
                                    out_specs<spec<"i">>, plx::donate<0>);
  constexpr auto twice =
      plx::shard_map([](auto x) { return x * 2.f; }, mesh, in_specs<spec<"i">>, out_specs<spec<"i">>, plx::donate<0>);
  auto x = plx::array<float, 1>::uninitialised({1000});
  std::iota(x.mutable_data(), x.mutable_data() + 1000, 0.f);
  auto global = plx::device_put(x, mesh, spec<"i">);
  auto sum = f(global);
  for (std::int64_t i = 0; i < 1000; ++i) REQUIRE(sum(i) == 2 * x(i));
  sum = twice(sum); // in the devices' own memory
  const auto again = f(sum);
  for (std::int64_t i = 0; i < 1000; ++i) REQUIRE(again(i) == 8 * x(i));
}

TEST_CASE("what a mapped function was given stays as it is where it is not read alike") {
  constexpr auto swapped =
      plx::pmap<"i">([](auto x) { return plx::ppermute<"i">(x, plx::rotate{1}) + x; }, plx::donate<0>);
  constexpr auto f = plx::pmap<"i">([](auto x) { return x * 1.f; });
  auto x = plx::array<float, 2>::uninitialised({4, 100});
  std::iota(x.mutable_data(), x.mutable_data() + 400, 0.f);
  auto y = f(x);
  const auto z = swapped(y);
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t i = 0; i < 100; ++i) REQUIRE(z(r, i) == x(r, i) + x((r + 3) % 4, i));
}

TEST_CASE("blocks of global arrays") {
  using plx::in_specs;
  using plx::out_specs;
  using plx::spec;
  constexpr auto mesh = plx::mesh<plx::device_axis("i", 2), plx::device_axis("j", 2)>;
  constexpr auto f = plx::shard_map([](auto x, auto y) { return x * 2.f + plx::psum<"j">(plx::sum(y)); }, mesh,
                                    in_specs<spec<"i", "j">, spec<"j">>, out_specs<spec<"i", "j">>, plx::donate<0>);
  auto x = plx::array<float, 2>::uninitialised({4, 200});
  std::iota(x.mutable_data(), x.mutable_data() + 800, 0.f);
  auto global = plx::device_put(x, mesh, spec<"i", "j">);
  const plx::array<float, 1> y{1, 2, 3, 4};
  global = f(global, y); // on its devices from now on
  const auto memory = [](const auto& of) -> const void* {
    const plx::buffer& block = of.blocks().shard_buffer(2);
    if (const auto* const there = block.on_device()) return there;
    return block.data();
  };
  const void* const before = memory(global);
  CHECK_THROWS_AS(f(global, plx::array<float, 1>{1, 2, 3}), plx::shape_error);
  CHECK(memory(global) == before);
  const auto z = f(global, y);
  CHECK(memory(z) == before);
  CHECK(z(3, 199) == 799.f * 4 + 30);
  CHECK_THROWS_AS(global(0, 0), plx::error);
  // a tree of them
  constexpr auto pair = plx::shard_map([](auto s) { return std::pair(s.first + s.second, s.second * 2.f); }, mesh,
                                       in_specs<spec<"i", "j">>, out_specs<spec<"i", "j">>, plx::donate<0>);
  auto state = std::pair(plx::device_put(x, mesh, spec<"i", "j">), plx::device_put(x, mesh, spec<"i", "j">));
  state = pair(state);
  CHECK(state.first(3, 199) == 2 * 799.f);
  CHECK(state.second(3, 199) == 2 * 799.f);
}

TEST_CASE("an argument that several results are made of is left alone where one of them is written first") {
  const auto check = [](const auto& q, const auto& p) {
    for (std::int64_t i = 0; i < 1000; ++i) {
      const float a = static_cast<float>(i + 1), b = 2 * a;
      REQUIRE((q(i) == a + .5f * b && p(i) == b - .25f * a));
    }
  };
  static constexpr auto turned = [](auto q, auto p) { return std::pair{q + .5f * p, p - .25f * q}; };
  vector q = placed(counted(1000)), p = placed(counted(1000) * 2.f);
  const vector kept = counted(1000) * 2.f;
  const auto [q1, p1] = plx::jit(turned, plx::donate<0, 1>)(q, p);
  check(q1, p1);
  CHECK((is_used_up(q) && is_used_up(p)));
  q = placed(counted(1000));
  const auto [q2, p2] = plx::jit(turned, plx::donate<0>)(q, kept);
  check(q2, p2);
  CHECK((is_used_up(q) && kept(999) == 2000.f));
  state<vector> s{placed(counted(1000)), placed(counted(1000) * 2.f)};
  s = plx::jit(
      [](auto x) {
        const auto [a, b] = turned(x.weights, x.momentum);
        return state{a, b};
      },
      plx::donate<0>)(s);
  check(s.weights, s.momentum);
  plx::array<float, plx::extents<1000>> fixed(counted(1000));
  const auto [q3, p3] = plx::jit(turned, plx::donate<0>)(fixed, kept);
  check(q3, p3);
  // of three parts, and on devices
  constexpr auto three = [](auto x, auto y) { return std::tuple{x + y, x - y, y * 3.f}; };
  q = placed(counted(1000));
  const auto [sum, difference, times] = plx::jit(three, plx::donate<0>)(q, kept);
  CHECK((sum(999) == 3000.f && difference(999) == -1000.f && times(999) == 6000.f));
  constexpr auto mapped = plx::pmap(turned, plx::donate<0, 1>);
  auto rows = plx::array<float, 2>::uninitialised({4, 250}), others = rows;
  std::iota(rows.mutable_data(), rows.mutable_data() + 1000, 1.f);
  others = rows * 2.f;
  const auto [q4, p4] = mapped(rows, others);
  CHECK((q4(3, 249) == 2000.f && p4(3, 249) == 1750.f));
}

TEST_CASE("inside another function donating has no effect") {
  static constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<0>);
  static constexpr auto outer = plx::jit([](auto x) { return twice(x) + x; });
  const vector x = counted(4);
  CHECK(outer(x)(3) == 12.f);
  CHECK(x(3) == 4.f);
  CHECK(plx::grad([](auto v) { return plx::sum(twice(v)); })(x)(0) == 2.f);
}

} // namespace donate_test
