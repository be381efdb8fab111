// Draws from a distribution of which only the density is known, by Hamiltonian Monte Carlo: chains are mapped over
// devices and within each, a sample is a round of a scan, and a trajectory is a loop of as many steps as the call says.
// `hamiltonian_monte_carlo FILE` writes what the first chain of each device drew: the device, then the point.
#include "support/claim.hpp"
#include "support/run_example.hpp"
#include "support/table_file.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace plx = parallax;

namespace {

constexpr int dimensions = 3;
using point = plx::array<float, plx::extents<dimensions>>;
using matrix = plx::array<float, plx::extents<dimensions, dimensions>>;

// A Gaussian with correlations, but for a constant.
constexpr auto log_density = [](auto x, auto mean, auto precision) {
  auto away = x - mean;
  return -0.5f * plx::dot(away, plx::dot(precision, away));
};

// (position, momentum) after so many leapfrog steps of `size` along the density's slope.
constexpr auto trajectory = [](auto position, auto momentum, auto mean, auto precision, auto steps, auto size) {
  auto slope = [&](auto x) { return plx::grad(log_density)(x, mean, precision); };
  auto leapfrog = [&](auto, auto state) {
    auto [x, p] = state;
    auto halfway = p + 0.5f * size * slope(x);
    auto next = x + size * halfway;
    return std::tuple{next, halfway + 0.5f * size * slope(next)};
  };
  return plx::fori_loop(0, steps, leapfrog, std::tuple{position, momentum});
};

// The samples of one chain, (samples, dimensions), and which of them were new.
constexpr auto chain = [](auto key, auto mean, auto precision, auto samples, auto steps, auto size) {
  auto log_joint = [&](auto x, auto p) { return log_density(x, mean, precision) - 0.5f * plx::dot(p, p); };
  auto draw = [&](auto x, auto round_key) {
    auto p = plx::random::normal(plx::random::fold_in(round_key, 0), {dimensions});
    auto [proposed, momentum] = trajectory(x, p, mean, precision, steps, size);
    auto threshold = plx::log(plx::random::uniform(plx::random::fold_in(round_key, 1)));
    auto accepted = threshold < log_joint(proposed, momentum) - log_joint(x, p);
    auto next = plx::where(accepted, proposed, x);
    return std::pair{next, std::pair{next, plx::astype<float>(accepted)}};
  };
  auto start = plx::random::normal(key, {dimensions});
  return plx::scan(draw, start, plx::random::split(key, samples)).second;
};
constexpr auto chains_of_device =
    plx::vmap(chain, plx::in_axes<0, plx::none, plx::none, plx::none, plx::none, plx::none>);
constexpr auto chains =
    plx::pmap(chains_of_device, plx::in_axes<0, plx::none, plx::none, plx::none, plx::none, plx::none>);

/// A mean of independent values, and its standard error.
struct estimate {
  double mean = 0, error = 0;
};
estimate estimate_of(const std::vector<double>& values) {
  estimate result;
  const auto count = static_cast<double>(values.size());
  for (double v : values) result.mean += v / count;
  for (double v : values) result.error += (v - result.mean) * (v - result.mean) / (count - 1);
  result.error = std::sqrt(result.error / count);
  return result;
}

/// Prints an estimate beside the exact value, and checks it: independent chains say how far apart the two may be.
void compare(const std::string& what, const std::vector<double>& of_chains, double exact) {
  const estimate found = estimate_of(of_chains);
  std::cout << "  " << what << ' ' << found.mean << " +- " << found.error << ", exactly " << exact << '\n';
  examples::claim(found.error < 0.1, what + " is known within 0.1");
  examples::claim(std::abs(found.mean - exact) < 5 * found.error, what + " is within five standard errors");
}

void run(std::span<const char* const> arguments) {
  examples::table_file table(arguments);
  constexpr std::int64_t chain_count = 32, samples = 500, warm_up = 50; // chains of a device
  const point mean{1, -2, 0.5f};
  const matrix covariance{{2, 1, 0}, {1, 1, 0.5f}, {0, 0.5f, 1}};
  const matrix precision{{1.5f, -2, 1}, {-2, 4, -2}, {1, -2, 2}}; // its inverse
  const std::int64_t devices = plx::device_count(), all_chains = devices * chain_count;
  const auto keys = plx::random::split(plx::random::key(0), {devices, chain_count});

  for (const int steps : {5, 10}) { // one program for both
    auto [draws, news] = chains(keys, mean, precision, plx::count(warm_up + samples), plx::count(steps), 0.3f);
    const plx::array<float, 4> drawn = draws; // device, chain, sample, dimension
    const double accepted = static_cast<double>(plx::array<float, 0>(plx::mean(news)).item());
    std::cout << all_chains << " chains on " << devices << (devices == 1 ? " device" : " devices") << ", " << samples
              << " samples of " << steps << " steps each: " << 100 * accepted << " % accepted\n";
    examples::claim(accepted > 0.6 && accepted < 1, "most proposals are accepted, not all");

    // of each chain the mean of `value` over what it drew when it was warm
    auto mean_of_chains = [&](const auto& value) {
      std::vector<double> means;
      for (std::int64_t c = 0; c < all_chains; ++c) {
        double sum = 0;
        for (std::int64_t s = warm_up; s < warm_up + samples; ++s)
          sum += value(drawn.data() + (c * (warm_up + samples) + s) * dimensions);
        means.push_back(sum / static_cast<double>(samples));
      }
      return means;
    };
    for (int i = 0; i < dimensions; ++i) {
      auto away = [&](const float* x, int k) { return static_cast<double>(x[k] - mean(k)); };
      const std::string row = std::to_string(i);
      compare("mean " + row, mean_of_chains([&](const float* x) { return double{x[i]}; }), double{mean(i)});
      for (int j = 0; j <= i; ++j)
        compare("covariance " + row + ", " + std::to_string(j),
                mean_of_chains([&](const float* x) { return away(x, i) * away(x, j); }), double{covariance(i, j)});
    }

    if (steps != 10) continue;
    for (std::int64_t device = 0; device < devices; ++device)
      for (std::int64_t s = warm_up; s < warm_up + samples; ++s) {
        const std::int64_t row = device * chain_count * (warm_up + samples) + s;
        table.row(device, drawn.values().subspan(static_cast<std::size_t>(row * dimensions), dimensions));
      }
    table.finish();
  }
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_example("hamiltonian_monte_carlo", argc, argv,
                               [](std::span<const char* const> arguments) { run(arguments); });
}
