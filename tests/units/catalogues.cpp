// Compiled once for each catalogue; CATALOGUE is `this` or `other`, the function of that name is defined here.
#include "units/catalogues.hpp"
#include "units/one_more.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <span>

namespace plx = parallax;

namespace units {
namespace {

constexpr std::size_t compared = 8;

void add(std::vector<computed>& all, const char* program, const auto& result) {
  const std::span<const float> values = result.values();
  const std::span<const float> first = values.first(std::min(compared, values.size()));
  all.push_back({program, {first.begin(), first.end()}});
}

std::vector<computed> compute() {
  std::vector<float> elements(rows * length);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = element(i % length);
  const plx::array<float, 2> x({rows, length}, elements);
  std::vector<computed> all;
  // kernels of one primitive each, which stand beside one another in the catalogue
  add(all, "sin", plx::pmap([](auto v) { return plx::sin(v); })(x).gather());
  add(all, "cos", plx::pmap([](auto v) { return plx::cos(v); })(x).gather());
  add(all, "tan", plx::pmap([](auto v) { return plx::tan(v); })(x).gather());
  add(all, "sqrt", plx::jit([](auto v) { return plx::sqrt(v); })(x));
  // reductions of an array, of its rows inside a larger loop, and along an axis
  add(all, "sum", plx::jit([](auto v) { return plx::sum(v, 1); })(x));
  add(all, "max", plx::jit([](auto v) { return plx::max(v, 1); })(x));
  add(all, "min", plx::jit([](auto v) { return plx::min(v, 1); })(x));
  add(all, "less the sum", plx::jit([](auto v) { return v - plx::sum(v, 1, plx::keepdims); })(x));
  add(all, "less the largest", plx::jit([](auto v) { return v - plx::max(v, 1, plx::keepdims); })(x));
  add(all, "cumsum", plx::jit([](auto v) { return plx::cumsum(v, 1); })(x));
  add(all, "cummax", plx::jit([](auto v) { return plx::cummax(v, 1); })(x));
  // what elements that are changed are combined with
  const plx::array<int, 1> first({0, 0});
  add(all, "added twice", plx::jit([](auto v, auto i) { return v.at(i).add(v); })(x, first));
  add(all, "the larger one", plx::jit([](auto v, auto i) { return v.at(i).max(2.f * v); })(x, first));
  return all;
}

} // namespace

std::vector<computed> CATALOGUE() { return compute(); }

} // namespace units
