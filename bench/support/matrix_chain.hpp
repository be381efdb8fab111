// The product of a row of matrices, by a scan, and its gradient. By hand: `bench::matrix_chain`.
#pragma once

#include <parallax/parallax.hpp>

#include <utility>

namespace bench {

namespace plx = parallax;

inline constexpr auto chain = [](auto first, auto matrices) {
  return plx::scan([](auto p, auto m) { return std::pair{plx::dot(m, p), plx::none}; }, first, matrices).first;
};
inline constexpr auto chain_gradient =
    plx::grad([](auto first, auto matrices) { return plx::sum(chain(first, matrices)); }, plx::argnums<1>);

} // namespace bench
