// The normalisation of rows that several cases have.
#pragma once

#include <parallax/parallax.hpp>

namespace bench {

/// Each row less its mean, divided by its standard deviation.
inline constexpr auto layernorm = [](auto x) {
  auto centred = x - parallax::mean(x, 1, parallax::keepdims);
  return centred * parallax::rsqrt(parallax::mean(parallax::square(centred), 1, parallax::keepdims) + 1e-5f);
};

} // namespace bench
