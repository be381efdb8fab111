// Functions for callers in any language.
#include "export.hpp"

#include <parallax/compiled_function.hpp>

#include <cstddef>
#include <span>

namespace {

namespace plx = parallax;
using plx::compiled_function;
using plx::shaped;

constexpr auto layer_of = [](auto w, auto x, auto b) { return plx::tanh(plx::dot(w, x) + b); };
constexpr auto loss = [](auto w, auto x, auto b) { return plx::sum(plx::square(layer_of(w, x, b))); };
constexpr auto shares_of = [](auto x) {
  auto sums = plx::sum(x, 1);
  return sums / plx::max(sums);
};
constexpr compiled_function<shares_of, shaped<double, 40, 50>> shares_function;
constexpr auto sum_of = [](auto x) { return plx::sum(x); };

} // namespace

extern "C" void layer(const float* w, const float* x, const float* b, float* y) {
  constexpr compiled_function<layer_of, shaped<float, 3, 4>, shaped<float, 4>, shaped<float, 3>> f;
  f(w, x, b, y);
}

extern "C" void layer_gradient(const float* w, const float* x, const float* b, float* gradient) {
  constexpr compiled_function<plx::grad(loss), shaped<float, 3, 4>, shaped<float, 4>, shaped<float, 3>> f;
  f(w, x, b, gradient);
}

extern "C" void row_shares(const double* x, double* shares, void* workspace) {
  constexpr std::size_t bytes = shares_function.workspace_bytes;
  shares_function(x, shares, std::span<std::byte, bytes>(static_cast<std::byte*>(workspace), bytes));
}
extern "C" unsigned long row_shares_workspace() { return shares_function.workspace_bytes; }

extern "C" void total(const float* x, float* sum) {
  constexpr compiled_function<sum_of, shaped<float, 100'000>> f;
  f(x, sum);
}
