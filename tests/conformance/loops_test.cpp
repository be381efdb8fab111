// scan, map and fori_loop, and their gradients and batches, beside plain loops.
#include "expected.hpp"

#include <tuple>
#include <utility>

namespace loops_test {

namespace {

using namespace conformance;
using vector = std::vector<double>;

// h' = tanh(w h + x), stacked h'^2; the cell of a small recurrent network.
constexpr auto recurrence = [](auto w, auto h0, auto xs) {
  return plx::scan(
      [&](auto h, auto x) {
        auto next = plx::tanh(plx::dot(w, h) + x);
        return std::pair{next, next * next};
      },
      h0, xs);
};
constexpr auto recurrence_backwards = [](auto w, auto h0, auto xs) {
  return plx::scan(
      [&](auto h, auto x) {
        auto next = plx::tanh(plx::dot(w, h) + x);
        return std::pair{next, next * next};
      },
      h0, xs, plx::in_reverse);
};
constexpr auto loss = [](auto w, auto h0, auto xs) {
  auto [last, squares] = recurrence(w, h0, xs);
  return plx::sum(last) + plx::sum(squares * squares);
};

constexpr std::size_t n = 3, rounds = 4;
struct outcome {
  vector last, squares;
};
outcome recur(const vector& w, const vector& h0, const vector& xs, bool reverse = false) {
  outcome result{h0, vector(rounds * n)};
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t t = reverse ? rounds - 1 - round : round;
    vector next(n);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = xs[t * n + i];
      for (std::size_t j = 0; j < n; ++j) sum += w[i * n + j] * result.last[j];
      next[i] = std::tanh(sum);
      result.squares[t * n + i] = next[i] * next[i];
    }
    result.last = next;
  }
  return result;
}
double loss_of(const vector& w, const vector& h0, const vector& xs) {
  const outcome y = recur(w, h0, xs);
  double sum = 0;
  for (double v : y.last) sum += v;
  for (double v : y.squares) sum += v * v;
  return sum;
}

vector waves(std::size_t count, double phase) {
  vector values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.6 * std::sin(1.7 * static_cast<double>(i) + phase);
  return values;
}
template <int Rank>
plx::array<double, Rank> array_of(const typename plx::array<double, Rank>::shape_type& shape, vector values) {
  return plx::array<double, Rank>(shape, std::move(values));
}
const vector w_values = waves(n * n, 0.3), h_values = waves(n, 1.1), x_values = waves(rounds * n, 2.3);
const auto w = array_of<2>({3, 3}, w_values);
const auto h0 = array_of<1>({3}, h_values);
const auto xs = array_of<2>({4, 3}, x_values);

/// Both recurrences on arrays of the values above.
void check_recurrences(const auto& weights, const auto& first_state, const auto& inputs) {
  const outcome forwards = recur(w_values, h_values, x_values), reverse = recur(w_values, h_values, x_values, true);
  auto [last, squares] = plx::jit(recurrence)(weights, first_state, inputs);
  check_close<double>(last, {3}, forwards.last, 1e-12, 1e-12);
  check_close<double>(squares, {4, 3}, forwards.squares, 1e-12, 1e-12);
  auto [first, squares_back] = plx::jit(recurrence_backwards)(weights, first_state, inputs);
  check_close<double>(first, {3}, reverse.last, 1e-12, 1e-12);
  check_close<double>(squares_back, {4, 3}, reverse.squares, 1e-12, 1e-12);
}

} // namespace

TEST_CASE("scan: the last carry and what was stacked, forwards and in reverse") { check_recurrences(w, h0, xs); }

TEST_CASE("scan: gradients by the carry, the slices and what the function closes over") {
  auto [dw, dh, dx] = plx::jit(plx::grad(loss, plx::argnums<0, 1, 2>))(w, h0, xs);
  check_close<double>(dw, {3, 3}, differences([](const vector& v) { return loss_of(v, h_values, x_values); }, w_values),
                      1e-7, 1e-8);
  check_close<double>(dh, {3}, differences([](const vector& v) { return loss_of(w_values, v, x_values); }, h_values),
                      1e-7, 1e-8);
  check_close<double>(dx, {4, 3}, differences([](const vector& v) { return loss_of(w_values, h_values, v); }, x_values),
                      1e-7, 1e-8);
}

TEST_CASE("scan: gradients of gradients") {
  // the gradient of |d loss / d h0|^2, beside differences of gradients
  static constexpr auto norm = [](auto a, auto b, auto c) {
    return plx::sum(plx::square(plx::grad(loss, plx::argnums<1>)(a, b, c)));
  };
  auto norm_of = [](const vector& h) { return plx::jit(norm)(w, array_of<1>({3}, h), xs).item(); };
  check_close<double>(plx::jit(plx::grad(norm, plx::argnums<1>))(w, h0, xs), {3}, differences(norm_of, h_values), 1e-6,
                      1e-7);
  auto by_weights = [](const vector& v) { return plx::jit(norm)(array_of<2>({3, 3}, v), h0, xs).item(); };
  check_close<double>(plx::jit(plx::grad(norm))(w, h0, xs), {3, 3}, differences(by_weights, w_values), 1e-6, 1e-7);
}

TEST_CASE("scan: batches of carries, slices and what the function closes over, beside single calls") {
  const vector many_w = waves(2 * n * n, 0.2), many_h = waves(2 * n, 0.9), many_x = waves(2 * rounds * n, 0.5);
  auto part = [](const vector& all, std::size_t i) {
    const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
    return i == 0 ? vector(all.begin(), all.begin() + half) : vector(all.begin() + half, all.end());
  };
  auto check = [&](const auto& result, int mapped) {
    vector expected;
    for (std::size_t i = 0; i < 2; ++i)
      expected.push_back(loss_of((mapped & 1) != 0 ? part(many_w, i) : w_values,
                                 (mapped & 2) != 0 ? part(many_h, i) : h_values,
                                 (mapped & 4) != 0 ? part(many_x, i) : x_values));
    check_close<double>(result, {2}, expected, 1e-12, 1e-12);
  };
  const auto ws = array_of<3>({2, 3, 3}, many_w);
  const auto hs = array_of<2>({2, 3}, many_h);
  const auto xss = array_of<3>({2, 4, 3}, many_x);
  check(plx::jit(plx::vmap(loss, plx::in_axes<0, plx::none, plx::none>))(ws, h0, xs), 1);
  check(plx::jit(plx::vmap(loss, plx::in_axes<plx::none, 0, plx::none>))(w, hs, xs), 2);
  check(plx::jit(plx::vmap(loss, plx::in_axes<plx::none, plx::none, 0>))(w, h0, xss), 4);
  check(plx::jit(plx::vmap(loss))(ws, hs, xss), 7);
  // gradients of batches, and batches of gradients
  const auto inside = plx::jit(plx::vmap(plx::grad(loss, plx::argnums<1>)))(ws, hs, xss);
  static constexpr auto total = [](auto a, auto b, auto c) { return plx::sum(plx::vmap(loss)(a, b, c)); };
  const auto outside = plx::jit(plx::grad(total, plx::argnums<1>))(ws, hs, xss);
  auto total_of = [&](const vector& v) {
    return loss_of(part(many_w, 0), part(v, 0), part(many_x, 0)) +
           loss_of(part(many_w, 1), part(v, 1), part(many_x, 1));
  };
  const vector expected = differences(total_of, many_h);
  check_close<double>(inside, {2, 3}, expected, 1e-7, 1e-8);
  check_close<double>(outside, {2, 3}, expected, 1e-7, 1e-8);
}

TEST_CASE("scan: trees, carries that change places, and a carry that stays") {
  // Fibonacci numbers modulo 1000 beside a constant and a sum of the slices
  static constexpr auto pairs = [](auto a, auto b, auto stays, auto slices) {
    return plx::scan(
        [](auto carry, auto slice) {
          auto [x, y, same] = carry;
          auto [left, right] = slice;
          return std::pair{std::tuple{y, x + y, same}, std::tuple{x * left, right + same}};
        },
        std::tuple{a, b, stays}, slices);
  };
  for (int count : {0, 1, 2, 7}) {
    INFO(count << " rounds");
    const auto left = counted<float>(count);
    const auto right = counted<float>(count, 2);
    auto [carry, stacked] = plx::jit(pairs)(plx::array<float, 0>(0.f), plx::array<float, 0>(1.f), counted<float>(2),
                                            std::tuple{left, right});
    double x = 0, y = 1;
    vector products, sums;
    for (int i = 0; i < count; ++i) {
      products.push_back(x * i);
      sums.push_back(2 * i), sums.push_back(2 * i + 2);
      x = std::exchange(y, x + y);
    }
    check_close(std::get<0>(carry), {}, {x});
    check_close(std::get<1>(carry), {}, {y});
    check_close(std::get<2>(carry), {2}, {0, 1});
    check_close(std::get<0>(stacked), {count}, products);
    check_close(std::get<1>(stacked), {count, 2}, sums);
  }
}

TEST_CASE("fori_loop and while_loop: a carry that stays, in gradients and batches, and rounds that change nothing") {
  // x y^3 and y^2
  static constexpr auto powers = [](auto x, auto y) {
    auto round = [](auto, auto both) { return std::pair{both.first * both.second, both.second}; };
    auto [product, same] = plx::fori_loop(0, 3, round, std::pair{x, y});
    return plx::sum(product) + plx::sum(same * same);
  };
  const plx::array<double, 1> x{1.5, -0.5}, y{0.8, 1.2};
  auto [by_x, by_y] = plx::grad(powers, plx::argnums<0, 1>)(x, y);
  check_close<double>(by_x, {2}, {std::pow(0.8, 3), std::pow(1.2, 3)}, 1e-14);
  check_close<double>(by_y, {2}, {3 * 1.5 * 0.64 + 1.6, -1.5 * 1.44 + 2.4}, 1e-14);
  auto batch =
      plx::vmap(plx::grad(powers, plx::argnums<0, 1>), plx::in_axes<plx::none, 0>)(plx::array<double, 0>(1.5), y);
  check_close<double>(std::get<0>(batch), {2}, {std::pow(0.8, 3), std::pow(1.2, 3)}, 1e-14);
  check_close<double>(std::get<1>(batch), {2}, {3 * 1.5 * 0.64 + 1.6, 4.5 * 1.44 + 2.4}, 1e-14);

  static constexpr auto until = [](auto v, auto step) {
    auto is_small = [](auto both) { return plx::sum(both.first) < 10.; };
    auto round = [](auto both) { return std::pair{both.first + both.second, both.second}; };
    return plx::while_loop(is_small, round, std::pair{v, step});
  };
  auto [sum, same] = plx::jit(until)(x, y);
  check_close<double>(sum, {2}, {1.5 + 5 * 0.8, -0.5 + 5 * 1.2}, 1e-14);
  check_close<double>(same, {2}, {0.8, 1.2}, 0);

  static constexpr auto idle = [](auto v) {
    auto there = plx::fori_loop(0, 4, [](auto, auto u) { return u; }, v);
    return plx::while_loop([](auto u) { return plx::sum(u) > 100.; }, [](auto u) { return u; }, there);
  };
  check_close<double>(plx::jit(idle)(x), {2}, {1.5, -0.5}, 0);
}

TEST_CASE("scan: so many rounds without slices, of a known count or an extent") {
  static constexpr auto halve = [](auto x, auto) { return std::pair{x * 0.5f, plx::none}; };
  static constexpr auto ten = [](auto x) { return plx::scan(halve, x, plx::none, plx::length<10>).first; };
  check_close(plx::jit(ten)(counted<float>(3)), {3}, {0, 1. / 1024, 2. / 1024});
  static constexpr auto any = [](auto x, auto times) { return plx::scan(halve, x, plx::none, times).first; };
  for (int count : {0, 1, 3})
    check_close(plx::jit(any)(counted<float>(3), plx::count(count)), {3},
                {0, std::pow(0.5, count), 2 * std::pow(0.5, count)});
}

TEST_CASE("scan and fori_loop: a negative number of rounds is no extent") {
  static constexpr auto halve = [](auto x, auto) { return std::pair{x * 0.5f, plx::none}; };
  static constexpr auto any = [](auto x, auto times) { return plx::scan(halve, x, plx::none, times).first; };
  static constexpr auto loop = [](auto x, auto times) {
    return plx::fori_loop(0, times, [](auto, auto v) { return v * 0.5f; }, x);
  };
  CHECK_THROWS_AS(plx::jit(any)(counted<float>(3), plx::count(-2)), plx::shape_error);
  CHECK_THROWS_AS(plx::jit(loop)(counted<float>(3), plx::count(-2)), plx::shape_error);
  CHECK_THROWS_AS(plx::scan(halve, counted<float>(3), plx::none, -2), plx::shape_error);
}

TEST_CASE("scan: numbers that it begins with take the type of what a round makes of them") {
  static constexpr auto total = [](auto x) {
    return plx::scan([](auto sum, auto slice) { return std::pair{sum + slice, plx::none}; }, 0, x).first;
  };
  check_close<float>(plx::jit(total)(counted<float>(5)), {}, {10});
  check_close<double>(plx::jit(total)(counted<double>(5)), {}, {10});
  check_equal<std::int32_t>(plx::jit(total)(counted<std::int32_t>(5)), {}, {10});
}

TEST_CASE("scan: outside of any function") {
  auto [last, sums] =
      plx::scan([](auto sum, auto x) { return std::pair{sum + x, sum + x}; }, counted<float>(2), counted<float>(3, 2));
  check_close(last, {2}, {6, 10});
  check_close(sums, {3, 2}, {0, 2, 2, 5, 6, 10});
}

TEST_CASE("scan: loops in loops, and their gradients") {
  // x <- sin(x + t) for each t of a row, and that for each row; the gradient is a product of cosines
  static constexpr auto nested = [](auto x, auto rows) {
    auto over_row = [](auto carry, auto row) {
      auto inner = plx::scan([&](auto v, auto t) { return std::pair{plx::sin(v + t * plx::sum(row)), v}; }, carry, row);
      return std::pair{inner.first, plx::sum(inner.second)};
    };
    auto [last, sums] = plx::scan(over_row, x, rows);
    return last + plx::sum(sums);
  };
  const vector rows = waves(6, 0.7);
  auto value = [](double x, const vector& all) {
    double sum = 0;
    for (std::size_t r = 0; r < 2; ++r)
      for (std::size_t t = 0; t < 3; ++t) {
        sum += x;
        x = std::sin(x + all[3 * r + t] * (all[3 * r] + all[3 * r + 1] + all[3 * r + 2]));
      }
    return x + sum;
  };
  const plx::array<double, 0> x(0.4);
  const auto array = array_of<2>({2, 3}, rows);
  check_close<double>(plx::jit(nested)(x, array), {}, {value(0.4, rows)}, 1e-12);
  auto [dx, drows] = plx::jit(plx::grad(nested, plx::argnums<0, 1>))(x, array);
  check_close<double>(dx, {}, differences([&](const vector& v) { return value(v[0], rows); }, {0.4}), 1e-7, 1e-8);
  check_close<double>(drows, {2, 3}, differences([&](const vector& v) { return value(0.4, v); }, rows), 1e-7, 1e-8);
}

TEST_CASE("scan: inside pmap, with a collective in each round") {
  // c <- 0.5 c + psum(x_t); the loss of instance i is the sum of its carries
  static constexpr auto instance = [](auto c, auto x) {
    auto [last, all] = plx::scan(
        [](auto carry, auto slice) {
          auto next = carry * 0.5f + plx::psum<"i">(slice * carry);
          return std::pair{next, next};
        },
        c, x);
    return last + plx::sum(all);
  };
  auto run = [](const vector& c0, const vector& slices) {
    vector c = c0, sums(4);
    for (std::size_t t = 0; t < 3; ++t) {
      double all = 0;
      for (std::size_t i = 0; i < 4; ++i) all += slices[3 * i + t] * c[i];
      for (std::size_t i = 0; i < 4; ++i) c[i] = 0.5 * c[i] + all, sums[i] += c[i];
    }
    for (std::size_t i = 0; i < 4; ++i) sums[i] += c[i];
    return sums;
  };
  vector c0, slices;
  for (int i = 0; i < 4; ++i) c0.push_back(i * 0.25 + 0.5);
  for (int i = 0; i < 12; ++i) slices.push_back(i * 0.125);
  const plx::array<float, 1> c_array = counted<float>(4) * 0.25f + 0.5f;
  const plx::array<float, 2> x_array = counted<float>(4, 3) * 0.125f;
  check_close(plx::pmap<"i">(instance)(c_array, x_array), {4}, run(c0, slices), 1e-5);
  static constexpr auto bulk = [](auto c, auto v) { return plx::sum(plx::pmap<"i">(instance)(c, v)); };
  auto [dc, dx] = plx::grad(bulk, plx::argnums<0, 1>)(c_array, x_array);
  auto total = [&](const vector& a, const vector& b) {
    double sum = 0;
    for (double v : run(a, b)) sum += v;
    return sum;
  };
  check_close(dc, {4}, differences([&](const vector& v) { return total(v, slices); }, c0), 1e-4, 1e-4);
  check_close(dx, {4, 3}, differences([&](const vector& v) { return total(c0, v); }, slices), 1e-4, 1e-4);
}

TEST_CASE("scan: inside pmap, with the device's number in each round") {
  static constexpr auto ten_times = [](auto i) {
    auto round = [i](auto carry, auto) { return std::pair{carry + i + plx::axis_index<"i">(), plx::none}; };
    return plx::scan(round, plx::zeros_like(i), plx::none, plx::length<10>).first;
  };
  const auto ones = plx::array<std::int32_t, 1>::filled({8}, 1);
  check_equal<std::int32_t>(plx::pmap<"i">(ten_times)(ones), {8}, {10, 20, 30, 40, 50, 60, 70, 80});
}

TEST_CASE("scan: of static extents, whose rounds are written out") {
  const plx::array<double, plx::extents<3, 3>> w_static = w;
  const plx::array<double, plx::extents<3>> h_static = h0;
  const plx::array<double, plx::extents<4, 3>> x_static = xs;
  check_recurrences(w_static, h_static, x_static);
  auto [dw, dh, dx] = plx::jit(plx::grad(loss, plx::argnums<0, 1, 2>))(w_static, h_static, x_static);
  auto [dw_dynamic, dh_dynamic, dx_dynamic] = plx::jit(plx::grad(loss, plx::argnums<0, 1, 2>))(w, h0, xs);
  auto doubles = [](const auto& x) { return vector(x.values().begin(), x.values().end()); };
  check_close<double>(dw, {3, 3}, doubles(dw_dynamic), 1e-12, 1e-12);
  check_close<double>(dh, {3}, doubles(dh_dynamic), 1e-12, 1e-12);
  check_close<double>(dx, {4, 3}, doubles(dx_dynamic), 1e-12, 1e-12);
  // a count that only the call knows, and rounds that only write
  static constexpr auto powers = [](auto x, auto times) {
    auto [power, all] =
        plx::scan([&](auto v, auto) { return std::pair{v * x, v}; }, plx::ones_like(x), plx::none, times);
    return std::pair{power, all};
  };
  for (int count : {0, 1, 5}) {
    auto [power, all] = plx::jit(powers)(h_static, plx::count(count));
    vector expected, stacked;
    for (int t = 0; t <= count; ++t)
      for (double v : h_values) (t < count ? stacked : expected).push_back(std::pow(v, t));
    check_close<double>(power, {3}, expected, 1e-12);
    check_close<double>(all, {count, 3}, stacked, 1e-12);
  }
  static constexpr auto squares_of = [](auto x) {
    return plx::map([](auto row) { return plx::map([](auto v) { return v * v; }, row); }, x);
  };
  vector rows = x_values;
  for (double& v : rows) v *= v;
  check_close<double>(plx::jit(squares_of)(x_static), {4, 3}, rows, 1e-12);
}

TEST_CASE("map: slice by slice") {
  static constexpr auto norms = [](auto x) { return plx::map([](auto row) { return plx::sum(row * row); }, x); };
  check_close(plx::jit(norms)(counted<float>(3, 2)), {3}, {1, 13, 41});
  auto outside = plx::map([](auto row) { return row + 1.f; }, counted<float>(2, 2));
  check_close(outside, {2, 2}, {1, 2, 3, 4});
}

TEST_CASE("fori_loop: rounds are numbered from the lower bound on") {
  static constexpr auto digits = [](auto x) {
    return plx::fori_loop(3, 6, [](auto i, auto v) { return v * 10.f + plx::astype<float>(i); }, x);
  };
  check_close(plx::jit(digits)(plx::array<float, 0>(0.f)), {}, {345});
  // outside of any function, of a count that is known at the call
  for (int upper : {-1, 0, 4}) {
    auto factorial =
        plx::fori_loop(0, upper, [](auto i, auto v) { return v * (i + 1); }, plx::array<std::int32_t, 0>(1));
    check_equal<std::int32_t>(factorial, {}, {upper == 4 ? 24 : 1});
  }
  // with a gradient, and a count that is an argument
  static constexpr auto power = [](auto x, auto times) {
    auto of = [=](auto y) { return plx::fori_loop(0, times, [&](auto, auto v) { return v * y; }, plx::ones_like(y)); };
    return plx::grad(of)(x);
  };
  check_close<double>(plx::jit(power)(plx::array<double, 0>(1.5), plx::count(5)), {}, {5 * 1.5 * 1.5 * 1.5 * 1.5},
                      1e-12);
}

TEST_CASE("fori_loop: bounds that the call knows, of which the upper one may be below the lower one") {
  static constexpr auto from = [](auto x, auto first, auto last) {
    auto add = [](auto i, auto y) { return y + plx::astype<float>(i); };
    auto zero = 0.f * plx::sum(x);
    return std::pair{plx::fori_loop(first, last, add, zero), plx::fori_loop(2, x.shape(0), add, zero)};
  };
  for (int size : {0, 1, 2, 3, 5})
    for (int first : {0, 1, 4})
      for (int last : {0, 2, 7}) {
        double sum = 0, over_axis = 0;
        for (int i = first; i < last; ++i) sum += i;
        for (int i = 2; i < size; ++i) over_axis += i;
        const auto [given, of_shape] = plx::jit(from)(counted<float>(size), plx::count(first), plx::count(last));
        check_close(given, {}, {sum});
        check_close(of_shape, {}, {over_axis});
      }
}

TEST_CASE("fori_loop: bounds below zero, inside and outside of functions") {
  static constexpr auto add = [](auto i, auto v) { return v * 10. + plx::astype<double>(i); };
  static constexpr auto inside = [](auto x) { return plx::fori_loop(-3, 2, add, x); };
  check_close<double>(plx::jit(inside)(plx::array<double, 0>(0.)), {}, {-32099});
  check_close<double>(plx::array<double, 0>(plx::fori_loop(-3, 2, add, plx::array<double, 0>(0.))), {}, {-32099});
  check_close<double>(plx::jit([](auto x) { return plx::fori_loop(-5, -3, add, x); })(plx::array<double, 0>(0.)), {},
                      {-54});
  static constexpr auto to_count = [](auto x, plx::extent count) { return plx::fori_loop(-2, count, add, x); };
  check_close<double>(plx::jit(to_count)(plx::array<double, 0>(0.), plx::count(1)), {}, {-210});
  check_close<double>(plx::jit(plx::grad(to_count))(plx::array<double, 0>(0.), plx::count(1)), {}, {1000});
}

TEST_CASE("fori_loop: numbers of 64 bits, and bounds that 32 bits do not have") {
  static constexpr auto add = [](auto i, auto v) { return v + plx::astype<double>(i); };
  constexpr std::int64_t far = std::int64_t{1} << 31;
  const plx::array<double, 0> zero(0.);
  static constexpr auto around = [](auto x) { return plx::fori_loop<std::int64_t>(far - 1, far + 2, add, x); };
  check_close<double>(plx::jit(around)(zero), {}, {3. * static_cast<double>(far)}, 0);
  check_close<double>(plx::array<double, 0>(plx::fori_loop<std::int64_t>(2 * far, 2 * far + 2, add, zero)), {},
                      {4. * static_cast<double>(far) + 1}, 0);
  check_close<double>(plx::array<double, 0>(plx::fori_loop<std::int64_t>(-2 * far, 2 - 2 * far, add, zero)), {},
                      {1 - 4. * static_cast<double>(far)}, 0);
  check_close<double>(plx::array<double, 0>(plx::fori_loop(far - 3, far - 1, add, zero)), {},
                      {2. * static_cast<double>(far) - 5}, 0); // the last ones that there are
  CHECK_THROWS_MATCHES(plx::fori_loop(2 * far, 2 * far + 2, add, zero), plx::shape_error,
                       Catch::Message("fori_loop: the bound 4294967296 is no int32 number; "
                                      "fori_loop<std::int64_t> has numbers of 64 bits"));
  static constexpr auto to_count = [](auto x, plx::extent first, plx::extent last) {
    return plx::fori_loop(first, last, add, x);
  };
  CHECK_THROWS_MATCHES(plx::jit(to_count)(zero, plx::count(far), plx::count(far + 1)), plx::shape_error,
                       Catch::Message("fori_loop: 2147483648 (axis 0 of argument 1) is no int32 number; "
                                      "fori_loop<std::int64_t> has numbers of 64 bits"));
}

TEST_CASE("fori_loop: more rounds than have their numbers in memory", "[long]") {
  constexpr int many = 70'000;
  double sum = 0;
  for (int i = 0; i < many; ++i) sum += 1. / (1 + i % 7) * i;
  static constexpr auto body = [](auto i, auto v) {
    return v + plx::astype<double>(i) / plx::astype<double>(1 + i % 7);
  };
  const plx::array<double, 0> zero(0.);
  check_close<double>(plx::jit([](auto x) { return plx::fori_loop(0, many, body, x); })(zero), {}, {sum}, 1e-12);
  check_close<double>(plx::array<double, 0>(plx::fori_loop(0, many, body, zero)), {}, {sum}, 1e-12);
}

TEST_CASE("fori_loop: gradients of rounds that count themselves, batches and gradients of these") {
  const plx::array<double, 0> zero(0.);
  static constexpr auto weighted = [](auto x, plx::extent count) {
    return plx::fori_loop(0, count, [=](auto i, auto v) { return v + x * x * plx::astype<double>(i); }, 0. * x);
  };
  check_close<double>(plx::jit(plx::grad(weighted))(plx::array<double, 0>(3.), plx::count(5)), {}, {2 * 3. * 10});
  static constexpr auto summed = [](auto all, plx::extent count) {
    return plx::sum(plx::vmap([=](auto x) { return weighted(x, count); })(all));
  };
  check_close<double>(plx::jit(plx::grad(summed))(plx::array<double, 1>{1, 2}, plx::count(5)), {2}, {20, 40});
  // a round that stacks nothing, and loops in loops
  static constexpr auto nested = [](auto x, plx::extent count) {
    auto outer = [&](auto i, auto v) {
      return plx::fori_loop(0, count, [=](auto j, auto u) { return u + plx::astype<double>(i * 10 + j); }, v);
    };
    return plx::fori_loop(1, count, outer, x);
  };
  check_close<double>(plx::jit(nested)(zero, plx::count(3)), {}, {10 + 11 + 12 + 20 + 21 + 22});
  // trees, and carries of which one is handed on
  static constexpr auto fibonacci = [](auto x, plx::extent count) {
    auto round = [](auto i, auto pair) {
      return std::pair{pair.second, pair.first + pair.second + 0. * plx::astype<double>(i)};
    };
    return plx::fori_loop(0, count, round, std::pair{x, x + 1.}).first;
  };
  check_close<double>(plx::jit(fibonacci)(zero, plx::count(10)), {}, {55});
}

TEST_CASE("a count is an argument of nested functions, and no transformation changes it") {
  static constexpr auto power = [](auto x, auto times) {
    return plx::fori_loop(0, times, [&](auto, auto v) { return v * x; }, plx::ones_like(x));
  };
  static constexpr auto chosen = [](auto x, auto times) {
    return plx::cond(x > 1.5, power, [](auto y, auto) { return y; }, x, times);
  };
  const plx::array<double, 1> x{1, 2, 3};
  const auto five = plx::count(5);
  check_close<double>(plx::jit(plx::grad(power))(plx::array<double, 0>(2), five), {}, {80}, 1e-12);
  check_close<double>(plx::jit(plx::vmap(power))(x, five), {3}, {1, 32, 243}, 1e-12);
  check_close<double>(plx::pmap(power, plx::in_axes<0, plx::none>)(x, five), {3}, {1, 32, 243}, 1e-12);
  check_close<double>(plx::pmap(plx::grad(power))(x, five), {3}, {5, 80, 405}, 1e-12);
  check_close<double>(plx::jit(plx::vmap(plx::grad(chosen)))(x, five), {3}, {1, 80, 405}, 1e-12);
  // a number, and an extent
  static constexpr auto cubes = [](auto y) { return plx::vmap(power)(y, plx::count(3)); };
  check_close<double>(plx::jit(cubes)(x), {3}, {1, 8, 27}, 1e-12);
}

TEST_CASE("what a loop or a pmap takes is computed before it, whatever reads it behind it") {
  static constexpr auto add_one = [](auto v) { return v + 1.; };
  static constexpr auto beside_loop = [](auto x) {
    auto doubled = x * 2.;
    return plx::fori_loop(0, 2, [](auto, auto v) { return add_one(v); }, doubled) * doubled;
  };
  static constexpr auto beside_pmap = [](auto x) {
    auto doubled = x * 2.;
    return plx::pmap(add_one)(doubled) * doubled;
  };
  const plx::array<double, 1> x{1, 2, 3};
  check_close<double>(plx::jit(beside_loop)(x), {3}, {8, 24, 48});
  check_close<double>(plx::jit(beside_pmap)(x), {3}, {6, 20, 42});
}

} // namespace loops_test
