// What a matrix product may do to its result on the way to memory.
#pragma once

#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

/// An elementwise function of a product's result; the last two multiply it by the function's derivative elsewhere.
enum class product_activation : unsigned char { identity, relu, gelu, relu_gradient, gelu_gradient };

} // namespace parallax::PARALLAX_INLINE_VERSION
