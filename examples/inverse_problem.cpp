// Finds what a rod conducts where from its temperatures under several heatings: the heat equation is solved by
// conjugate gradients, and the gradient goes through the solution, not through the iterates, of which none is kept.
// `inverse_problem FILE` writes logarithms of conductivities, each row after its step: first the true ones, as step -1.
#include "support/claim.hpp"
#include "support/run_example.hpp"
#include "support/table_file.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <numbers>
#include <span>
#include <tuple>

namespace plx = parallax;

namespace {

constexpr int cells = 64;
constexpr int heatings = 4;
using fields = plx::array<double, plx::extents<heatings, cells>>;
using edges = plx::array<double, plx::extents<cells + 1>>;

// -(c u')' of temperatures that are 0 at both ends; c lies between the cells.
constexpr auto heat_flow = [](auto conductivity, auto u) {
  auto with_ends = plx::pad(u, 0, {{1, 1}});
  auto flow = conductivity * (plx::slice_in_dim(with_ends, 1, plx::none) - plx::slice_in_dim(with_ends, 0, -1));
  return plx::slice_in_dim(flow, 0, -1) - plx::slice_in_dim(flow, 1, plx::none);
};
// The temperatures for each heating. Conductivities are positive: their logarithms are what is looked for.
constexpr auto temperatures = [](auto logarithms, auto heat) {
  auto product = [c = plx::exp(logarithms)](auto u) { return heat_flow(c, u); };
  auto solve = [product](auto each) { return plx::cg(product, each, {.tol = 1e-10, .maxiter = 4 * cells}); };
  return plx::vmap(solve)(heat);
};
constexpr auto misfit = [](auto logarithms, auto heat, auto measured) {
  auto rough = plx::slice_in_dim(logarithms, 1, plx::none) - plx::slice_in_dim(logarithms, 0, -1);
  return plx::mean(plx::square(temperatures(logarithms, heat) - measured)) + 1e-8 * plx::sum(plx::square(rough));
};

constexpr auto optimiser = plx::optim::adam(plx::optim::cosine_decay_schedule{0.05, 800});
constexpr auto improve = [](auto logarithms, auto state, auto heat, auto measured) {
  auto [value, gradient] = plx::value_and_grad(misfit)(logarithms, heat, measured);
  auto [updates, next] = optimiser.update(gradient, state, logarithms);
  return std::tuple{plx::optim::apply_updates(logarithms, updates), next, value};
};

void run(std::span<const char* const> arguments) {
  examples::table_file table(arguments);
  edges truth;
  fields heat;
  for (int i = 0; i <= cells; ++i)
    truth.mutable_data()[i] = 0.5 * std::sin(2 * std::numbers::pi * i / cells) - (i > cells / 2 ? 0.4 : 0.);
  for (int k = 0; k < heatings; ++k)
    for (int i = 0; i < cells; ++i)
      heat.mutable_data()[k * cells + i] = std::sin(std::numbers::pi * (k + 1) * (i + 0.5) / cells) / cells;
  const fields measured = plx::jit(temperatures)(truth, heat);

  // one derivative beside a difference
  edges found;
  const edges gradient = plx::jit(plx::grad(misfit))(found, heat, measured);
  edges above, below;
  constexpr double h = 1e-4;
  above.mutable_data()[20] = h;
  below.mutable_data()[20] = -h;
  const double difference =
      (plx::jit(misfit)(above, heat, measured).item() - plx::jit(misfit)(below, heat, measured).item()) / (2 * h);
  std::cout << "derivative " << gradient(20) << ", by a difference " << difference << '\n';
  examples::claim(std::abs(gradient(20) - difference) < 1e-5 * std::abs(difference) + 1e-9,
                  "the gradient through the solution is the gradient");

  table.row(-1, truth.values());
  auto state = optimiser.init(found);
  double first = 0, last = 0;
  for (int step = 0; step < 800; ++step) {
    auto [moved, next, value] = plx::jit(improve)(found, state, heat, measured);
    found = moved, state = next, last = value.item();
    if (step == 0) first = last;
    if (step == 9 || step == 49 || step == 799) table.row(step + 1, found.values());
    if (step % 100 == 0) std::cout << "step " << step << "  misfit " << last << '\n';
  }
  table.finish();
  double error = 0;
  for (int i = 0; i <= cells; ++i) error += std::abs(found(i) - truth(i)) / (cells + 1);
  std::cout << "misfit from " << first << " to " << last << "; logarithms of conductivities differ by " << error
            << " on average\n";
  examples::claim(last < 1e-3 * first, "the temperatures are explained");
  examples::claim(error < 0.15, "the conductivities are found");
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_example("inverse_problem", argc, argv,
                               [](std::span<const char* const> arguments) { run(arguments); });
}
