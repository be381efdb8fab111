// A layer whose output is a fixed point, z = tanh(W z + U x + b), found in as many rounds as it takes: its gradient
// comes from the equation, and nothing of the rounds is kept. Learns on which of two spirals a point lies.
#include "support/claim.hpp"
#include "support/run_example.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <numbers>
#include <span>
#include <tuple>

namespace plx = parallax;

namespace {

constexpr int width = 12, points = 96;

template <class Inner, class Input, class Bias, class Head> struct network {
  Inner inner;
  Input input;
  Bias bias;
  Head head;
};

constexpr auto fixed_point = [](auto weights, auto driven) {
  auto inner = weights * (0.9 / plx::maximum(0.9, plx::optim::global_norm(weights))); // so that rounds come closer
  auto equation = [inner, driven](auto z) { return plx::tanh(plx::dot(inner, z) + driven) - z; };
  auto iterate = [](auto f, auto first) {
    auto unfinished = [f](auto z) { return plx::max(plx::abs(f(z))) > 1e-10; };
    return plx::while_loop(unfinished, [f](auto z) { return z + f(z); }, first);
  };
  // the equation's derivative is no symmetric matrix
  auto solve_linear = [](auto product, auto y) { return plx::bicgstab(product, y, {.tol = 1e-10}); };
  return plx::custom_root(equation, plx::zeros_like(driven), iterate, solve_linear);
};

constexpr auto logit_of = [](const auto& p, auto x) {
  return plx::dot(p.head, fixed_point(p.inner, plx::dot(p.input, x) + p.bias));
};
constexpr auto loss_of_one = [](const auto& p, auto x, auto label) {
  return plx::log1p(plx::exp(-label * logit_of(p, x)));
};
constexpr auto loss = [](const auto& p, auto xs, auto labels) {
  return plx::mean(plx::vmap(loss_of_one, plx::in_axes<plx::none, 0, 0>)(p, xs, labels));
};

constexpr auto optimiser = plx::optim::adam(0.03);
constexpr auto learn = [](auto p, auto state, auto xs, auto labels) {
  auto [value, gradients] = plx::value_and_grad(loss)(p, xs, labels);
  auto [updates, next] = optimiser.update(gradients, state, p);
  return std::tuple{plx::optim::apply_updates(p, updates), next, value};
};
constexpr auto first_network = [](auto key) {
  auto random = [&](int number, auto scale) {
    return plx::astype<double>(scale * plx::random::normal(plx::random::fold_in(key, number), {width, width}));
  };
  return network{random(0, 0.1f), plx::slice_in_dim(random(1, 1.f), 0, 2, 1, 1), random(2, 0.5f)[0],
                 random(3, 0.3f)[0]};
};

void run() {
  auto xs = plx::array<double, 2>::uninitialised({points, 2});
  auto labels = plx::array<double, 1>::uninitialised({points});
  for (int i = 0; i < points; ++i) {
    const double along = static_cast<double>(i / 2) / (points / 2), sign = i % 2 == 0 ? 1 : -1;
    const double angle = 1.25 * std::numbers::pi * along, radius = 0.3 + 1.2 * along;
    xs.mutable_data()[2 * i] = sign * radius * std::cos(angle);
    xs.mutable_data()[2 * i + 1] = sign * radius * std::sin(angle);
    labels.mutable_data()[i] = sign;
  }
  auto p = plx::jit(first_network)(plx::random::key(0));

  // the gradient beside a difference
  const auto gradient = plx::jit(plx::grad(loss))(p, xs, labels);
  constexpr double h = 1e-5;
  auto above = p, below = p;
  above.inner.mutable_data()[5] += h;
  below.inner.mutable_data()[5] -= h;
  const double difference =
      (plx::jit(loss)(above, xs, labels).item() - plx::jit(loss)(below, xs, labels).item()) / (2 * h);
  std::cout << "by W[0, 5]: " << gradient.inner(0, 5) << ", by a difference " << difference << '\n';
  examples::claim(std::abs(gradient.inner(0, 5) - difference) < 1e-6, "the equation's derivative is the layer's");

  auto state = optimiser.init(p);
  double last = 0;
  for (int step = 0; step < 300; ++step) {
    auto [moved, next, value] = plx::jit(learn)(p, state, xs, labels);
    p = moved, state = next, last = value.item();
    if (step % 50 == 0) std::cout << "step " << step << "  loss " << last << '\n';
  }
  std::cout << "at the end " << last << '\n';
  examples::claim(last < 0.1, "the network tells the spirals apart");
}

} // namespace

int main(int argc, char** argv) {
  return examples::run_example("implicit_layer", argc, argv, [](std::span<const char* const>) { run(); });
}
