// A training step: a perceptron learns to add on four devices, whose gradients meet in a collective.
#include <parallax/parallax.hpp>

#include <cstdlib>
#include <iostream>

namespace plx = parallax;

constexpr auto predict = [](auto params, auto x) {
  auto [w1, b1, w2, b2] = params;
  return plx::dot(plx::tanh(plx::dot(x, w1) + b1), w2) + b2;
};
constexpr auto loss = [](auto params, auto x, auto y) { return plx::mean(plx::square(predict(params, x) - y)); };
constexpr auto update = [](auto params, auto x, auto y, auto rate) {
  auto [value, grads] = plx::value_and_grad(loss)(params, x, y);
  grads = plx::pmean<"batch">(grads);
  auto updated = plx::tree_map([=](auto p, auto g) { return p - rate * g; }, params, grads);
  return std::pair{updated, plx::pmean<"batch">(value)};
};
constexpr auto initial = [](auto key) {
  return std::tuple{0.5f * plx::random::normal(key, {3, 16}), plx::zeros({16}),
                    0.5f * plx::random::normal(key, {16, 1}), plx::zeros({1})};
};

void train() {
  plx::array xs = plx::random::uniform(plx::random::key(1), {4, 32, 3}); // devices, batch, features
  plx::array ys = plx::sum(xs, plx::axis<2>, plx::keepdims);
  auto step = plx::pmap<"batch">(update, plx::in_axes<0, 0, 0, plx::none>);
  auto params = plx::pmap(initial)(plx::broadcast_to(plx::random::key(0), {4, 2})); // a replica on each device
  for (int i = 0; i < 200; ++i) {
    auto [updated, value] = step(params, xs, ys, 0.1f);
    params = updated; // stays where it is
    if (i % 50 == 49) std::cout << "loss " << value(0) << '\n';
  }
}

int main() {
  setenv("PARALLAX_HOST_DEVICES", "4", 0); // where nothing else says how many there are
  train();
}
