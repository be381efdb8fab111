// Which temperatures a rod had ten thousand steps ago: the adjoint of the heat equation in 64 slots of memory, whatever
// the number of steps. How much memory that is, and how often steps are computed again, are constants of the program.
#include "support/claim.hpp"
#include "support/run_example.hpp"

#include <parallax/compiled_function.hpp>
#include <parallax/parallax.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <numbers>
#include <span>
#include <utility>

namespace plx = parallax;

namespace {

constexpr int cells = 64, slots = 64;
constexpr std::int64_t steps = 10'000;
using field = plx::array<double, plx::extents<cells>>;

// One step of u' = u'' whose ends do not let heat out, in a material that conducts less where it is hot.
constexpr auto step = [](auto u, auto) {
  auto padded = plx::concatenate({plx::slice_in_dim(u, 0, 1), u, plx::slice_in_dim(u, -1, plx::none)});
  auto difference = plx::slice_in_dim(padded, 1, plx::none) - plx::slice_in_dim(padded, 0, -1);
  auto flow = difference / (1. + 0.1 * plx::square(difference));
  auto next = u + 0.2 * (plx::slice_in_dim(flow, 1, plx::none) - plx::slice_in_dim(flow, 0, -1));
  return std::pair{next, plx::none};
};
template <int Slots> struct misfit {
  constexpr auto operator()(auto first, auto measured) const {
    return 0.5 * plx::sum(plx::square(last_of(first) - measured));
  }
  static constexpr auto last_of(auto first) {
    if constexpr (Slots == 0) return plx::scan(step, first, plx::none, plx::length<steps>).first;
    else return plx::checkpointed_scan<Slots>(step, first, plx::none, plx::length<steps>).first;
  }
};
constexpr auto gradient = plx::value_and_grad(misfit<slots>{});
constexpr auto keeping_all = plx::value_and_grad(misfit<0>{});
constexpr auto shape = plx::shaped<double, cells>;

// At most three forward passes beside the first one, and memory for the slots and copies of them, one for each pass.
static_assert(plx::checkpoint_repeats(steps, slots) == 3);
constexpr std::int64_t constant = plx::cost(gradient, shape, shape).peak_bytes;
static_assert(constant < 5 * slots * cells * 8 && plx::cost(keeping_all, shape, shape).peak_bytes > 70 * constant);

void run() {
  field hot, measured;
  for (int i = 0; i < cells; ++i) hot.mutable_data()[i] = std::sin(std::numbers::pi * i / 16) + 0.02 * i;
  measured = plx::jit([](auto u) { return misfit<0>::last_of(u); })(hot);
  field guess;

  // without a runtime: the caller's memory is all that there is
  constexpr plx::compiled_function<gradient, shape, shape> adjoint;
  const auto workspace = std::make_unique<std::array<std::byte, adjoint.workspace_bytes>>();
  double value = 0;
  std::array<double, cells> slopes{};
  const auto begin = std::chrono::steady_clock::now();
  adjoint(guess.data(), measured.data(), value, slopes, *workspace);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const std::int64_t used = static_cast<std::int64_t>(adjoint.workspace_bytes) + 8 * (3 * cells + 1);
  std::cout << steps << " steps and back in " << took.count() << " ms; " << used << " bytes, " << constant
            << " by the program's constant, " << plx::cost(keeping_all, shape, shape).peak_bytes
            << " if all steps were kept\n";
  examples::claim(std::abs(static_cast<double>(used - constant)) < 0.05 * static_cast<double>(constant),
                  "the memory is what the constant says");

  const auto [all_value, all_slopes] = plx::jit(keeping_all)(guess, measured);
  double apart = std::abs(all_value.item() - value), largest = 0;
  for (int i = 0; i < cells; ++i) {
    apart = std::max(apart, std::abs(all_slopes(i) - slopes[static_cast<std::size_t>(i)]));
    largest = std::max(largest, std::abs(all_slopes(i)));
  }
  std::cout << "misfit " << value << "; the gradient differs by " << apart << " from the one that keeps all steps\n";
  examples::claim(apart < 1e-10 * largest, "the gradient is the one that keeps all steps");

  // goes back against the gradient
  double last = value;
  for (int i = 0; i < 30; ++i) {
    for (int k = 0; k < cells; ++k) guess.mutable_data()[k] -= 0.9 * slopes[static_cast<std::size_t>(k)];
    adjoint(guess.data(), measured.data(), last, slopes, *workspace);
  }
  std::cout << "after 30 steps against the gradient " << last << '\n';
  examples::claim(last < 1e-2 * value, "the measured temperatures are explained");
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_example("heat_adjoint", argc, argv, [](std::span<const char* const>) { run(); });
}
