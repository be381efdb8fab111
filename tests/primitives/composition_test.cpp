// Primitives inside each other: nested vmap, gradients of batches, batches of gradients, second derivatives.
#include "ops/reference.hpp"

namespace composition_test {

namespace {

namespace plx = parallax;
using reference::coordinates;
using reference::table;

constexpr auto score = [](auto w, auto x) {
  auto h = plx::tanh(plx::dot(w, x));
  auto padded = plx::pad(plx::concatenate({h, plx::maximum(h, 0.1)}), 0.5, {{1, 0, 1}});
  return plx::logsumexp(plx::where(padded > 0, padded * padded, plx::sin(padded))) + plx::max(h) / (1 + plx::var(x));
};

const auto weights = reference::array_of<double, 2>(reference::numbers({3, 4}, -1, 1));
const auto example = reference::array_of<double, 1>(reference::numbers({4}, -1, 1, 0.3));

} // namespace

TEST_CASE("gradients of a function of many primitives") { reference::check_gradient(score, weights, example); }

TEST_CASE("a batch of gradients is the gradient of each example") {
  constexpr auto slope = [](auto w, auto x) { return plx::grad(score, plx::argnums<0, 1>)(w, x); };
  reference::check_batching<-1, 0>(slope, weights, example);
  reference::check_batching<1, 1>(slope, weights, example);
}

TEST_CASE("the gradient of a batch is that of the sum over it") {
  constexpr auto total = [](auto w, auto xs) { return plx::sum(plx::vmap(score, plx::in_axes<plx::none, 1>)(w, xs)); };
  reference::check_gradient(total, weights, reference::array_of<double, 2>(reference::numbers({4, 3}, -1, 1, 0.2)));
}

TEST_CASE("vmap inside vmap pairs everything with everything") {
  constexpr auto pairs = [](auto ws, auto xs) {
    auto of_one = [](auto w, auto all) { return plx::vmap(score, plx::in_axes<plx::none, 0>)(w, all); };
    return plx::vmap(of_one, plx::in_axes<2, plx::none>)(ws, xs);
  };
  table ws = reference::numbers({3, 4, 2}, -1, 1), xs = reference::numbers({5, 4}, -1, 1, 0.2);
  auto actual = plx::jit(pairs)(reference::array_of<double, 3>(ws), reference::array_of<double, 2>(xs));
  reference::compare(actual,
                     reference::tabulate({2, 5},
                                         [&](const coordinates& at) {
                                           auto w = reference::array_of<double, 2>(reference::take(ws, 2, at[0]));
                                           auto x = reference::array_of<double, 1>(reference::take(xs, 0, at[1]));
                                           return plx::jit(score)(w, x).item();
                                         }),
                     1e-13);
}

TEST_CASE("a gradient has a gradient") {
  constexpr auto slope_of_slope = [](auto x) {
    auto f = [](auto y) {
      return plx::sum(plx::exp(plx::sin(y)) * plx::power(y, 3) + plx::softmax(y) * plx::logistic(y));
    };
    return plx::grad(f)(x);
  };
  reference::check_gradient(slope_of_slope, example);
}

} // namespace composition_test
