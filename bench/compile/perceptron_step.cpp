// A training step of three layers.
#include <parallax/parallax.hpp>

#include <tuple>
#include <utility>

namespace plx = parallax;

using rows = plx::array<float, 2>;
using row = plx::array<float, 1>;

constexpr auto predict = [](auto params, auto x) {
  auto [w1, b1, w2, b2, w3, b3] = params;
  auto hidden = plx::tanh(plx::dot(x, w1) + b1);
  return plx::dot(plx::relu(plx::dot(hidden, w2) + b2), w3) + b3;
};
constexpr auto loss = [](auto params, auto x, auto y) { return plx::mean(plx::square(predict(params, x) - y)); };
constexpr auto step = [](auto params, auto x, auto y) {
  auto [value, gradients] = plx::value_and_grad(loss)(params, x, y);
  return std::pair{plx::tree_map([](auto p, auto g) { return p - 0.1f * g; }, params, gradients), value};
};

auto run(const std::tuple<rows, row, rows, row, rows, row>& params, const rows& x, const rows& y) {
  return plx::jit(step)(params, x, y);
}
