// What loops and indexing are lowered to: what fuses, what is changed in place, what no round copies.
#include "support/test.hpp"

#include "compile/lowered.hpp"

#include <cstdint>
#include <tuple>
#include <utility>

namespace loop_steps_test {

namespace {

namespace plx = parallax;
using plx::compiled::step_kind, plx::shaped;

/// Steps and memory of all sections of a program.
struct steps {
  int kernels = 0, products = 0, scans = 0, others = 0, slots = 0;
  friend constexpr bool operator==(const steps&, const steps&) = default;
};
template <class Function, class... Arguments> constexpr steps steps_of(const Function&, const Arguments&...) {
  const auto plan = lowered::program(Function{}, Arguments{}...);
  auto count = [&](step_kind kind) { return lowered::step_count(plan, kind); };
  steps result{count(step_kind::kernel),
               count(step_kind::product) + count(step_kind::epilogue) + count(step_kind::accumulation),
               count(step_kind::scan)};
  for (int k = 0; k < lowered::section_count(plan); ++k) result.others += lowered::section(plan, k).steps.count;
  result.others -= result.kernels + result.products + result.scans;
  result.slots = lowered::slot_count(plan);
  return result;
}

constexpr auto row = shaped<float, 64>;
constexpr auto places = shaped<std::int32_t, 20>;

// a gather is a part of the loop that reads it
constexpr auto read_and_scale = [](auto x, auto i) { return x[i] * 2.f + 1.f; };
static_assert(steps_of(read_and_scale, row, places) == steps{.kernels = 1});
constexpr auto sum_of_read = [](auto x, auto i) { return plx::sum(x[i] * x[i]); };
static_assert(steps_of(sum_of_read, row, places) == steps{.kernels = 1});

// updates of what dies are made where it lies: a loop for it, and one for each list of updates
constexpr auto two_updates = [](auto x, auto i) { return (2.f * x).at(i).set(1.f).at(i + 1).add(2.f); };
static_assert(steps_of(two_updates, row, places) == steps{.kernels = 3});

// indices that are known are constants, from the end as well
constexpr auto in_column = []<int Column>() {
  return steps_of([](auto x, auto i) { return x.at(i, Column).set(1.f); }, shaped<float, 8, 64>, places);
};
static_assert(in_column.template operator()<3>() == steps{.kernels = 2});
static_assert(in_column.template operator()<-1>() == steps{.kernels = 2});

// a round is what its function computes: slices are read and results stacked where they are, and no carry is copied
constexpr auto recurrence = [](auto w, auto h, auto xs) {
  auto round = [w](auto carry, auto x) {
    auto next = plx::tanh(plx::dot(w, carry) + x);
    return std::pair{next, next * 2.f};
  };
  return plx::scan(round, h, xs);
};
constexpr auto of_rounds = []<int Rounds>() {
  return steps_of(recurrence, shaped<float, 8, 8>, shaped<float, 8>, shaped<float, Rounds, 8>);
};
constexpr steps ten = of_rounds.template operator()<10>(), many = of_rounds.template operator()<100'000>();
static_assert(ten == many && ten.scans == 1 && ten.products == 1 && ten.kernels <= 2 && ten.others == 0);

// what all rounds hand on as it is is a constant of the loop: a round is the one kernel that its function computes
constexpr auto of_pair = [](auto x, auto y) {
  auto round = [](auto, auto both) {
    auto [first, second] = both;
    return std::pair{first * second, second};
  };
  return plx::fori_loop(0, 10, round, std::pair{x, y});
};
constexpr auto closed_over = [](auto x, auto y) {
  return std::pair{plx::fori_loop(0, 10, [y](auto, auto first) { return first * y; }, x), y};
};
constexpr auto pair_until_small = [](auto x, auto y) {
  auto round = [](auto both) { return std::pair{both.first * both.second, both.second}; };
  return plx::while_loop([](auto both) { return plx::sum(both.first) > 1.f; }, round, std::pair{x, y});
};
constexpr auto until_small = [](auto x, auto y) {
  auto is_large = [](auto first) { return plx::sum(first) > 1.f; };
  return std::pair{plx::while_loop(is_large, [y](auto first) { return first * y; }, x), y};
};
static_assert(steps_of(of_pair, row, row) == steps_of(closed_over, row, row));
static_assert(plx::cost(of_pair, row, row).bytes_written == plx::cost(closed_over, row, row).bytes_written);
static_assert(steps_of(pair_until_small, row, row) == steps_of(until_small, row, row));
// beside a sum of products too, which is no part of the loop
constexpr auto summed_of_pair = [](auto sum, auto y, auto xs, auto ys) {
  auto round = [](auto carry, auto slices) {
    auto [total, same] = carry;
    auto [u, v] = slices;
    return std::pair{std::pair{total + plx::dot(plx::transpose(u), v), same}, same * plx::sum(v)};
  };
  return plx::scan(round, std::pair{sum, y}, std::pair{xs, ys});
};
constexpr auto summed = [](auto sum, auto y, auto xs, auto ys) {
  auto round = [y](auto total, auto slices) {
    auto [u, v] = slices;
    return std::pair{total + plx::dot(plx::transpose(u), v), y * plx::sum(v)};
  };
  auto [total, stacked] = plx::scan(round, sum, std::pair{xs, ys});
  return std::pair{std::pair{total, y}, stacked};
};
constexpr auto steps_of_sum = [](const auto& function) {
  return steps_of(function, shaped<float, 5, 6>, row, shaped<float, 9, 3, 5>, shaped<float, 9, 3, 6>);
};
static_assert(steps_of_sum(summed_of_pair) == steps_of_sum(summed) && steps_of_sum(summed).products == 1);

// a carry that takes the place of another is not copied either, nor is one that swaps with another
constexpr auto of_two_before = [](auto x, auto y) {
  return plx::fori_loop(
      0, 10, [](auto, auto both) { return std::pair{both.second, both.first * both.second}; }, std::pair{x, y});
};
static_assert(steps_of(of_two_before, row, row).scans == 1);
static_assert(plx::cost(of_two_before, row, row).bytes_written == 4 + 10 * 64 * 4); // one number, for all rounds
constexpr auto swapped = [](auto x, auto y, auto z) {
  auto round = [](auto, auto three) {
    auto [first, second, third] = three;
    return std::tuple{second, first, third + first};
  };
  return plx::fori_loop(0, 10, round, std::tuple{x, y, z});
};
static_assert(steps_of(swapped, row, row, row).scans == 1);

// a round that changes one element costs the same, however many there are
template <int Size>
constexpr auto doubled_ahead =
    [](auto x) { return plx::fori_loop(1, 11, [](auto k, auto v) { return v.at(k).set(2.f * v[k - 1]); }, x); };
template <int Size> constexpr std::int64_t written = plx::cost(doubled_ahead<Size>, shaped<float, Size>).bytes_written;
static_assert(written<1000> == written<2000>);

// the way back of a scan is one as well, and reads what the way there stacked
constexpr auto loss = [](auto w, auto h, auto xs) { return plx::sum(recurrence(w, h, xs).second); };
constexpr steps both_ways = steps_of(plx::grad(loss), shaped<float, 8, 8>, shaped<float, 8>, shaped<float, 10, 8>);
static_assert(both_ways.scans == 2);

} // namespace

TEST_CASE("loops and indexing take no more steps than they compute") { // the assertions above are the test
  CHECK(ten == many);
}

} // namespace loop_steps_test
