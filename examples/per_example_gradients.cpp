// The gradient of each example by itself, clipped to a length before they are averaged, as training with differential
// privacy asks: `vmap` of `grad` is one batch of them.
#include "support/claim.hpp"
#include "support/run_example.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <span>
#include <tuple>
#include <vector>

namespace plx = parallax;

namespace {

template <class Weights, class Bias> struct layer {
  Weights weights;
  Bias bias;
};

constexpr auto predicted = [](const auto& p, auto x) {
  auto hidden = plx::tanh(plx::dot(x, p.first.weights) + p.first.bias);
  return plx::dot(hidden, p.second.weights) + p.second.bias;
};
constexpr auto loss_of_one = [](const auto& p, auto x, auto y) { return plx::sum(plx::square(predicted(p, x) - y)); };

// Each example's gradient with its own length, and the mean of the clipped ones.
constexpr auto clipped_mean = [](const auto& p, auto xs, auto ys, auto most) {
  auto one = [&p, most](auto x, auto y) {
    auto gradient = plx::grad(loss_of_one)(p, x, y);
    auto norm = plx::optim::global_norm(gradient);
    auto factor = plx::minimum(1.f, most / norm);
    return std::pair{plx::tree_map([factor](auto g) { return g * factor; }, gradient), norm};
  };
  auto [gradients, norms] = plx::vmap(one)(xs, ys);
  return std::pair{plx::tree_map([](auto g) { return plx::mean(g, 0); }, gradients), norms};
};
constexpr auto of_one = [](const auto& p, auto x, auto y) {
  auto gradient = plx::grad(loss_of_one)(p, x, y);
  return std::pair{gradient, plx::optim::global_norm(gradient)};
};

void run() {
  constexpr std::int64_t inputs = 16, hidden = 32, examples_count = 256;
  auto drawn = [](plx::array<float, 2> shape_of, int number) {
    float* values = shape_of.mutable_data();
    for (std::int64_t i = 0; i < shape_of.size(); ++i)
      values[i] = 0.3f * std::sin(12.9898f * static_cast<float>(i) + 78.233f * static_cast<float>(number));
    return shape_of;
  };
  const auto matrix = [&](std::int64_t rows, std::int64_t columns, int number) {
    return drawn(plx::array<float, 2>::uninitialised({rows, columns}), number);
  };
  const layer first{matrix(inputs, hidden, 1), plx::array<float, 1>(plx::zeros<float>({hidden}))};
  const layer second{matrix(hidden, 2, 2), plx::array<float, 1>(plx::zeros<float>({2}))};
  const std::pair p{first, second};
  const plx::array<float, 2> xs = 5.f * matrix(examples_count, inputs, 3), ys = matrix(examples_count, 2, 4);
  constexpr float most = 1.5f;

  const auto [mean, norms] = plx::jit(clipped_mean)(p, xs, ys, most);
  // one after another
  const auto row_of = [](const plx::array<float, 2>& rows, std::int64_t i) {
    const std::span values = rows.values().subspan(static_cast<std::size_t>(i * rows.shape(1)));
    return plx::array<float, 1>({rows.shape(1)}, values.first(static_cast<std::size_t>(rows.shape(1))));
  };
  std::vector<double> sum(static_cast<std::size_t>(inputs * hidden));
  double longest = 0, farthest = 0;
  int clipped = 0;
  for (std::int64_t i = 0; i < examples_count; ++i) {
    const auto [gradient, norm] = plx::jit(of_one)(p, row_of(xs, i), row_of(ys, i));
    const double factor = std::min(1., static_cast<double>(most / norm.item()));
    clipped += factor < 1 ? 1 : 0;
    longest = std::max(longest, static_cast<double>(norm.item()));
    farthest = std::max(farthest, std::abs(static_cast<double>(norm.item() - norms(i))));
    for (std::size_t k = 0; k < sum.size(); ++k)
      sum[k] += factor * static_cast<double>(gradient.first.weights.data()[k]) / examples_count;
  }
  double error = 0;
  for (std::size_t k = 0; k < sum.size(); ++k)
    error = std::max(error, std::abs(sum[k] - static_cast<double>(mean.first.weights.data()[k])));
  std::cout << clipped << " of " << examples_count << " gradients are longer than " << most << ", the longest "
            << longest << "; batch and single calls differ by " << error << '\n';
  examples::claim(clipped > 0 && clipped < examples_count, "some gradients are clipped, and some are not");
  examples::claim(error < 1e-5 && farthest < 1e-4, "a batch of gradients is what single calls give");
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_example("per_example_gradients", argc, argv, [](std::span<const char* const>) { run(); });
}
