// The digit classifier's training step on simulated devices gives what it gives on the host.
#include "cuda/programs/numbers.hpp"
#include "digits_model.hpp"
#include "support/batch.hpp"
#include "support/digits_csv.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace training_test {

namespace plx = parallax;
using simulated::numbers;

namespace {

constexpr std::int64_t rows = 3, hidden = 12;

auto layer_for(std::int64_t devices, std::int64_t inputs, std::int64_t outputs, unsigned seed) {
  // the same on every device
  const auto weight = numbers<2>({inputs, outputs}, seed);
  auto weights = plx::array<float, 3>::uninitialised({devices, inputs, outputs});
  for (std::int64_t d = 0; d < devices; ++d)
    std::ranges::copy(weight.values(), weights.mutable_data() + d * weight.size());
  return examples::layer{weights, plx::array<float, 2>::filled({devices, outputs}, 0.1f)};
}

/// All parameters and the losses after two steps.
std::vector<float> after_two_steps(const examples::dataset& digits, std::int64_t devices) {
  const auto features = static_cast<std::int64_t>(digits.features()),
             classes = static_cast<std::int64_t>(examples::classes);
  std::vector<std::size_t> order(static_cast<std::size_t>(devices * rows));
  std::iota(order.begin(), order.end(), 0);
  const auto [images, targets] = examples::make_batch(digits, order);
  const plx::array<float, 3> x({devices, rows, features}, std::span(images)),
      y({devices, rows, classes}, std::span(targets));
  const auto first =
      examples::step(std::tuple{layer_for(devices, features, hidden, 1), layer_for(devices, hidden, hidden, 2),
                                layer_for(devices, hidden, classes, 3)},
                     x, y, 0.5f);
  const auto second = examples::step(first.first, x, y, 0.5f);
  std::vector<float> all;
  plx::tree_for_each(
      [&](const auto& leaf) {
        const auto whole = leaf.gather();
        all.insert(all.end(), whole.values().begin(), whole.values().end());
      },
      second);
  return all;
}

} // namespace

TEST_CASE("two steps of training") {
  static const examples::dataset digits = examples::read_digits_csv(PARALLAX_EXAMPLES_DATA "/digits.csv");
  const std::int64_t devices = plx::device_count();
  const std::vector<float> found = after_two_steps(digits, devices);
  static std::vector<float> expected; // the same under every seed
  if (expected.empty()) {
    const plx::use_backend host(plx::backend::host);
    REQUIRE(plx::device_count() >= devices);
    expected = after_two_steps(digits, devices);
  }
  REQUIRE(found.size() == expected.size());
  double farthest = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    farthest = std::max(farthest, static_cast<double>(std::abs(found[i] - expected[i])));
  CHECK(farthest < 1e-5);
}

} // namespace training_test
