// Reverse mode computes nothing twice: the gradient grows with the depth of what is differentiated, not faster.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

namespace gradient_size_test {

namespace plx = parallax;

namespace {

/// A perceptron whose layers share their weights, so that depths differ in nothing else.
template <int Depth> struct perceptron {
  constexpr auto operator()(auto weights, auto x) const {
    for (int i = 0; i < Depth; ++i) x = plx::tanh(plx::dot(x, weights) + 1.f);
    return plx::mean(plx::square(x));
  }
};

/// One with weights of its own for each layer.
template <std::size_t Depth> struct separate_layers {
  constexpr auto operator()(auto weights, auto x) const {
    for (auto w : weights) x = plx::tanh(plx::dot(x, w));
    return plx::sum(x);
  }
};

/// The number of nodes that the results need.
template <class Function, class... Arguments> constexpr int node_count(const Function&, const Arguments&...) {
  plx::detail::context trace;
  static_cast<void>(plx::detail::trace_program<Function, Arguments...>(trace));
  const auto needed = trace.current().needed();
  int count = 0;
  for (plx::detail::node_id id : needed.ids()) count += needed.contains(id);
  return trace.failed ? -1 : count;
}

constexpr auto weights = plx::shaped<float, 16, 16>;
constexpr auto batch = plx::shaped<float, 8, 16>;
template <int Depth> constexpr int gradient_nodes = node_count(plx::grad(perceptron<Depth>{}), weights, batch);
template <std::size_t Depth>
constexpr int separate_nodes =
    node_count(plx::grad(separate_layers<Depth>{}), std::array<std::remove_cv_t<decltype(weights)>, Depth>{}, batch);

// every further layer costs the same
static_assert(gradient_nodes<2> > 0);
static_assert(gradient_nodes<10> - gradient_nodes<8> == gradient_nodes<4> - gradient_nodes<2>);
static_assert(gradient_nodes<10> < 10 * 12);
static_assert(separate_nodes<10> - separate_nodes<8> == separate_nodes<4> - separate_nodes<2>);
// forward and backward together hold a small multiple of the function's own nodes
static_assert(gradient_nodes<10> < 4 * node_count(perceptron<10>{}, weights, batch));

// x * x * ... shares every power
template <int Times> struct squared_often {
  constexpr auto operator()(auto x) const {
    for (int i = 0; i < Times; ++i) x = x * x;
    return x;
  }
};
static_assert(node_count(squared_often<20>{}, plx::shaped<float>) == 21);
static_assert(node_count(plx::grad(squared_often<20>{}), plx::shaped<float>) < 21 + 5 * 20);

} // namespace

TEST_CASE("a deep gradient has its value", "[gradients]") {
  // x^(2^5) has derivative 32 x^31
  CHECK(plx::array<float, 0>(plx::grad(squared_often<5>{})(1.f)).item() == 32.f);
}

} // namespace gradient_size_test
