// What goes by order, branches and loops under grad, jvp, vmap and pmap, beside plain loops.
#include "transformed_calls.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace transformed_loops_test {

namespace {

using namespace conformance;
using namespace conformance::transformed_calls;

// y -> max(y + a, b), one behind the other: the combination does not commute
constexpr auto compose = [](auto first, auto second) {
  auto [a, b] = first;
  auto [c, d] = second;
  return std::pair{a + c, plx::maximum(b + c, d)};
};

} // namespace

TEST_CASE("transformed orders: top_k and searchsorted") {
  constexpr auto ordered = [](auto x) {
    auto [largest, positions] = plx::top_k(x, 3);
    auto sorted = plx::sort(x);
    return plx::concatenate({largest, plx::astype<double>(positions), plx::astype<double>(plx::searchsorted(sorted, x)),
                             plx::astype<double>(plx::searchsorted(sorted, x, plx::right_side))});
  };
  check_calls(ordered, [](const numbers& x) {
    numbers all, positions, below, not_above;
    for (double value : x) {
      below.push_back(static_cast<double>(std::count_if(x.begin(), x.end(), [&](double v) { return v < value; })));
      not_above.push_back(below.back() + 1);
    }
    for (double rank : {5, 4, 3}) {
      const auto place = std::find(below.begin(), below.end(), rank) - below.begin();
      all.push_back(x[static_cast<std::size_t>(place)]);
      positions.push_back(static_cast<double>(place));
    }
    append(all, positions);
    append(all, below);
    append(all, not_above);
    return all;
  });
}

TEST_CASE("transformed cummin from the end, and cumlogsumexp") {
  constexpr auto cumulative = [](auto x) {
    return plx::concatenate({plx::cummin(x, 0, plx::in_reverse), plx::cumlogsumexp(x)});
  };
  check_calls(cumulative, [](const numbers& x) {
    numbers all(12);
    std::inclusive_scan(x.rbegin(), x.rend(), all.rbegin() + 6, [](double a, double b) { return std::min(a, b); });
    std::inclusive_scan(x.begin(), x.end(), all.begin() + 6,
                        [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); });
    return all;
  });
}

TEST_CASE("transformed sorts: NaN comes last, and -0 is 0") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const plx::array<double, plx::extents<2, 6>> x{{nan, 0, -1, -0., nan, 2}, {-0., nan, 0, 3, -nan, -0.}};
  const std::vector<std::int32_t> order{2, 1, 3, 5, 0, 4, 0, 2, 5, 3, 1, 4};
  auto check = [&](const auto& sorted, const auto& positions) {
    check_equal<std::int32_t>(positions, {2, 6}, order);
    const numbers values = on_host(sorted).to_vector();
    REQUIRE(values.size() == 12);
    for (std::size_t k = 0; k < 12; ++k) {
      INFO("element " << k);
      const double wanted = x.values()[k / 6 * 6 + static_cast<std::size_t>(order[k])];
      CHECK((values[k] == wanted || (std::isnan(values[k]) && std::isnan(wanted))));
      if (wanted == 0) CHECK(std::signbit(values[k]) == std::signbit(wanted)); // moved, not changed
    }
  };
  static constexpr auto sorts = [](auto v) { return std::pair{plx::sort(v), plx::argsort(v)}; };
  const auto [rows_sorted, positions] = plx::jit(sorts)(x);
  check(rows_sorted, positions);
  const auto [sorted_of_batch, positions_of_batch] = plx::jit(plx::vmap(sorts))(x);
  check(sorted_of_batch, positions_of_batch);
  const auto [sorted_of_devices, positions_of_devices] = plx::pmap(sorts)(x);
  check(sorted_of_devices, positions_of_devices);
}

TEST_CASE("transformed branches and rounds: switch_, and map of cond") {
  constexpr auto chosen = [](auto x) {
    // a branch for each of the rows
    auto branches = std::tuple{[](auto v) { return plx::sin(v) * v; }, [](auto v) { return plx::cumsum(v * v); },
                               [](auto v) { return v[0] * v; }};
    auto slope = [last = x[5]](auto v) {
      return plx::cond(
          v > last, [](auto a, auto b) { return a * b; }, [](auto a, auto b) { return plx::sin(a) + b * b; }, v, last);
    };
    return plx::concatenate({plx::switch_(plx::astype<std::int32_t>(x[5]), branches, x), plx::map(slope, x)});
  };
  check_calls(chosen, [](const numbers& x) {
    const int branch = std::min(static_cast<int>(x[5]), 2);
    numbers all;
    double squares = 0;
    for (double v : x) {
      squares += v * v;
      all.push_back(branch == 0 ? std::sin(v) * v : branch == 1 ? squares : x[0] * v);
    }
    for (double v : x) all.push_back(v > x[5] ? v * x[5] : std::sin(v) + x[5] * x[5]);
    return all;
  });
}

TEST_CASE("transformed associative_scan: products, and sums with a floor from the end") {
  constexpr auto scanned = [](auto x) {
    auto product = [](auto a, auto b) { return a * b; };
    return plx::concatenate({plx::associative_scan(product, x),
                             plx::associative_scan(compose, std::pair{x, plx::sin(x)}, plx::in_reverse).second});
  };
  check_calls(scanned, [](const numbers& x) {
    numbers all(12);
    std::inclusive_scan(x.begin(), x.end(), all.begin(), std::multiplies<>());
    double sum = -100; // below all floors
    for (std::size_t k = 6; k-- > 0;) all[6 + k] = sum = std::max(sum + x[k], std::sin(x[k]));
    return all;
  });
}

TEST_CASE("transformed jvp of while_loop, of as many rounds as each row takes") {
  constexpr auto grown = [](auto x) {
    auto loop = [](auto start) {
      return plx::while_loop([](auto v) { return plx::sum(v * v) < 100.; },
                             [](auto v) { return 1.2 * v + 0.1 * plx::sin(v); }, start);
    };
    return plx::jvp(loop, std::tuple{x}, std::tuple{plx::cos(x)});
  };
  check_pairs(grown, [](const numbers& x) {
    numbers values = x, tangents;
    for (double v : x) tangents.push_back(std::cos(v));
    while (std::inner_product(values.begin(), values.end(), values.begin(), 0.) < 100)
      for (std::size_t k = 0; k < 6; ++k) {
        tangents[k] *= 1.2 + 0.1 * std::cos(values[k]);
        values[k] = 1.2 * values[k] + 0.1 * std::sin(values[k]);
      }
    return std::pair{values, tangents};
  });
}

} // namespace transformed_loops_test
