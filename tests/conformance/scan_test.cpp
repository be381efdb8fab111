// scan of a recurrence, with its gradients and batches, beside plain loops.
#include "expected.hpp"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace scan_test {

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

} // namespace scan_test
