// The functions that a matrix product may apply to its result before it stores it.
#pragma once

#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// An elementwise function of a product's result. The last two multiply the result by the function's derivative at
/// another value.
enum class product_activation : unsigned char { identity, relu, gelu, relu_gradient, gelu_gradient };

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
