// Gradients, and steps of training the digit classifier of the examples, on CUDA devices as on the host.
#include "../digits_training.hpp"
#include "same_as_host.hpp"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

namespace gpu {
namespace {

constexpr auto several = [](auto x, auto w) {
  auto y = plx::dot(plx::tanh(x), w);
  auto z = plx::where(y > 0.f, plx::exp(-y), plx::square(y)) + plx::logsumexp(y, 1, plx::keepdims);
  return plx::sum(plx::sqrt(1.f + plx::square(z))) + plx::mean(plx::sin(x)) + plx::max(w);
};
constexpr auto gradients = plx::jit(plx::value_and_grad(several, plx::argnums<0, 1>));
constexpr auto second = plx::jit(plx::grad(
    [](auto x) { return plx::sum(plx::square(plx::grad([](auto v) { return plx::sum(plx::tanh(v) * v * v); })(x))); }));
constexpr auto each_gradient = plx::jit(plx::vmap(plx::grad([](auto x) { return plx::sum(x * plx::erf(x)); })));
constexpr auto through_devices = plx::jit(plx::grad([](auto x) {
  return plx::sum(plx::square(plx::pmap<"i">([](auto v) { return plx::sin(v) * plx::psum<"i">(v); })(x)));
}));

/// Two layers whose biases, activations and gradients are the products' epilogues.
template <class Activation>
constexpr auto layers = plx::jit(plx::value_and_grad(
    [](auto x, auto w1, auto b1, auto w2, auto b2) {
      return plx::mean(plx::square(plx::dot(Activation{}(plx::dot(x, w1) + b1), w2) + b2));
    },
    plx::argnums<1, 2, 3, 4>));

template <class Activation> void check_layers(const char* what, double tolerance) {
  same_as_host(what, tolerance, layers<Activation>, samples<float, 2>({40, 24}, 1), samples<float, 2>({24, 64}, 1, 2),
               samples<float, 1>({64}, 1, 3), samples<float, 2>({64, 16}, 1, 4), samples<float, 1>({16}, 1, 5));
}
void check_epilogues() {
  check_layers<decltype(plx::relu)>("layers with relu", 2e-5);
  check_layers<decltype(plx::gelu)>("layers with gelu", 2e-3); // the library approximates the tanh
}

void check_gradients() {
  same_as_host("gradients", 2e-5, gradients, samples<float, 2>({12, 9}, 1), samples<float, 2>({9, 5}, 1, 2));
  same_as_host("a gradient of a gradient", 1e-5, second, samples<float, 1>({37}, 1));
  same_as_host("each row's gradient", 1e-5, each_gradient, samples<float, 2>({8, 21}, 1));
  same_as_host("a gradient through pmap", 1e-5, through_devices, samples<float, 2>({spread(), 7}, 1));
}

auto layer(std::int64_t devices, std::int64_t inputs, std::int64_t outputs, unsigned seed) {
  return examples::layer{samples<float, 3>({devices, inputs, outputs}, 0.3, seed),
                         samples<float, 2>({devices, outputs}, 0.1, seed + 1)};
}

void check_training_on(std::int64_t devices) {
  const std::int64_t rows = 6;
  auto steps = [](const auto& params, const auto& images, const auto& targets) {
    auto [once, first] = examples::step(params, images, targets, 0.2f);
    auto [twice, next] = examples::step(once, images, targets, 0.2f);
    return std::tuple{twice, first, next};
  };
  auto targets = plx::array<float, 3>::filled({devices, rows, 10}, 0);
  for (std::int64_t i = 0; i < devices * rows; ++i) targets.mutable_data()[i * 10 + i * 7 % 10] = 1;
  same_as_host("two steps on " + std::to_string(devices), 1e-5, steps,
               std::tuple{layer(devices, 64, 32, 1), layer(devices, 32, 24, 3), layer(devices, 24, 10, 5)},
               samples<float, 3>({devices, rows, 64}, 1, 9), targets);
}
void check_training() {
  check_training_on(1);
  if (spread() > 1) check_training_on(spread());
}

constexpr check all[] = {{"programs: gradients", check_gradients},
                         {"programs: layers", check_epilogues},
                         {"programs: training", check_training}};

} // namespace

std::span<const check> training_programs() { return all; }

int train_digits(assignment& given) {
  if (given.list) return 0;
  int failed = digits::train_on("digits", examples::read_digits_csv("examples/data/digits.csv"), 100, 20, given.to);
  if (!given.mnist.empty()) failed += digits::train_on("MNIST", digits::read_mnist(given.mnist), 100, 1, given.to);
  return failed;
}

} // namespace gpu
