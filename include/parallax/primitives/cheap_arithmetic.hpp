// Arithmetic that takes less time than a store and a load of its result.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/all.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

constexpr bool is_sum(const graph& g, node_id id) {
  return is<primitives::add>(g, id) || is<primitives::subtract>(g, id);
}
/// Whether the value is a product, which a compiler may fuse with a sum into one rounding in one loop and not in
/// another.
constexpr bool is_multiplied(const graph& g, node_id id) {
  return is<primitives::multiply>(g, id) || is<primitives::integer_power>(g, id);
}
constexpr bool is_comparison(const graph& g, node_id id) {
  return is<primitives::equal>(g, id) || is<primitives::not_equal>(g, id) || is<primitives::less>(g, id) ||
         is<primitives::less_equal>(g, id) || is<primitives::greater>(g, id) || is<primitives::greater_equal>(g, id);
}
/// Whether the operation is arithmetic without divisions and functions, which take longer.
constexpr bool is_cheap_arithmetic(const graph& g, node_id id) {
  const bool is_square = is<primitives::integer_power>(g, id) && g.parameters(id)[0] == 2;
  return is_sum(g, id) || is<primitives::multiply>(g, id) || is_square || is_comparison(g, id) ||
         is<primitives::negative>(g, id) || is<primitives::maximum>(g, id) || is<primitives::minimum>(g, id) ||
         is<primitives::absolute>(g, id) || is<primitives::relu>(g, id) || is<primitives::select>(g, id) ||
         is<primitives::convert>(g, id);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
