// checkpointed_scan: the gradients of scan, in memory that does not grow with the rounds.
#include "conformance/expected.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace checkpointed_scan_test {

namespace {

using namespace conformance;
using numbers = plx::array<double, 1>;

// the schedule: binomials, and the fewest repeats that suffice
static_assert(plx::detail::most_checkpointed_rounds(3, 1) == 3 && plx::detail::most_checkpointed_rounds(3, 2) == 6 &&
              plx::detail::most_checkpointed_rounds(4, 3) == 20);
static_assert(plx::checkpoint_repeats(20, 4) == 3 && plx::checkpoint_repeats(21, 4) == 4);
static_assert(plx::checkpoint_repeats(10'000, 64) == 3 && plx::checkpoint_repeats(5, 64) == 1);

constexpr auto round = [](auto w) {
  return [w](auto carry, auto x) {
    auto [h, total] = carry;
    auto next = plx::sin(w * h + x);
    return std::pair{std::pair{next, total + plx::sum(next * x)}, next * next};
  };
};
template <int Slots> struct loss {
  constexpr auto operator()(auto w, auto h, auto xs) const {
    if constexpr (Slots == 0) return finish(plx::scan(round(w), std::pair{h, 0.}, xs));
    else return finish(plx::checkpointed_scan<Slots>(round(w), std::pair{h, 0.}, xs));
  }
  static constexpr auto finish(const auto& results) {
    auto [last, squares] = results;
    return plx::sum(last.first) + last.second * 0.5 + plx::sum(squares * squares) * 0.25;
  }
};
template <std::int64_t Rounds> using inputs = plx::array<double, plx::extents<Rounds, 2>>;
template <std::int64_t Rounds> inputs<Rounds> some_inputs() {
  inputs<Rounds> xs;
  for (std::int64_t i = 0; i < 2 * Rounds; ++i) xs.mutable_data()[i] = 0.4 * static_cast<double>((7 * i) % 5) - 0.7;
  return xs;
}
const numbers w{0.9, -1.1}, h{0.2, 0.5};

template <int Slots, std::int64_t Rounds> void check_gradients() {
  INFO(Slots << " slots, " << Rounds << " rounds");
  const inputs<Rounds> xs = some_inputs<Rounds>();
  const plx::array<double, 2> any_rounds(xs); // for which scan is one program
  const auto [by_w, by_h, by_xs] = plx::grad(loss<0>{}, plx::argnums<0, 1, 2>)(w, h, any_rounds);
  const auto [w_again, h_again, xs_again] = plx::grad(loss<Slots>{}, plx::argnums<0, 1, 2>)(w, h, xs);
  check_close<double>(w_again, {2}, by_w.to_vector(), 1e-12);
  check_close<double>(h_again, {2}, by_h.to_vector(), 1e-12);
  check_close<double>(xs_again, {Rounds, 2}, by_xs.to_vector(), 1e-12);
}

} // namespace

TEST_CASE("checkpointed_scan: gradients are those of scan, with few slots and with many") {
  check_gradients<16, 5>(); // a slot for each round
  check_gradients<2, 7>();  // six repeats
  check_gradients<3, 6>();  // a whole binomial
  check_gradients<3, 9>();  // and a piece of the next
  check_gradients<4, 20>();
  check_gradients<4, 1>();
}
TEST_CASE("checkpointed_scan: forward mode over its gradient, and rounds without slices") {
  static constexpr auto curvature = [](auto v, auto start, auto xs) {
    auto slope = [start, xs](auto u) { return plx::grad(loss<3>{})(u, start, xs); };
    return plx::jvp(slope, std::make_tuple(v), std::make_tuple(plx::ones_like(v))).second;
  };
  const inputs<6> xs = some_inputs<6>();
  constexpr double step = 1e-5;
  const plx::array<double, 2> any_rounds(xs);
  const numbers above = plx::grad(loss<0>{})(numbers(w + step), h, any_rounds),
                below = plx::grad(loss<0>{})(numbers(w - step), h, any_rounds);
  check_close<double>(plx::jit(curvature)(w, h, xs), {2},
                      {(above(0) - below(0)) / (2 * step), (above(1) - below(1)) / (2 * step)}, 1e-7);

  static constexpr auto powers = [](auto v) {
    return plx::checkpointed_scan<3>([v](auto u, auto) { return std::pair{u * v, plx::none}; }, v, plx::none,
                                     plx::length<9>)
        .first;
  };
  static constexpr auto counted = [](auto v) {
    return plx::checkpointed_scan<3>([v](auto u, auto) { return std::pair{u * v, plx::none}; }, v, plx::none, 9).first;
  };
  check_close<double>(plx::grad(counted)(plx::array<double, 0>(1.1)), {}, {10 * std::pow(1.1, 9)}, 1e-12);
  check_close<double>(plx::grad(powers)(plx::array<double, 0>(1.1)), {}, {10 * std::pow(1.1, 9)}, 1e-12);
}

TEST_CASE("checkpointed_scan: memory is that of the slots") {
  constexpr auto peak = []<int Slots, std::int64_t Rounds>() {
    using shape = decltype(plx::shaped<double, Rounds, 2>);
    static_cast<void>(sizeof(shape));
    return plx::cost(plx::grad(loss<Slots>{}), plx::shaped<double, 2>, plx::shaped<double, 2>,
                     plx::shaped<double, Rounds, 2>)
        .peak_bytes;
  };
  // the slices themselves, their copy of outputs, and 16 bytes a slot or a round for each carry
  constexpr std::int64_t few = peak.operator()<8, 512>(), all = peak.operator()<0, 512>();
  CHECK(few < all);
}

} // namespace checkpointed_scan_test
