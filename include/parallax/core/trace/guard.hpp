// Conditions on extents that only the call can decide.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/graph.hpp>
#include <parallax/core/version.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// What a guard demands of its left and right extents.
enum class guard_kind {
  equal_extents,     ///< left is right: extents of two operands
  broadcast_extents, ///< left is right; an extent of 1 would repeat if it were static, so a 1 has its own message
  same_size,         ///< left is right
  divisible,         ///< left is divisible by right
  at_least,          ///< left is at least right
  not_negative,      ///< left is not below 0
  index_within,      ///< right is an index of an axis of extent left
  index_from_end,    ///< -right is an index of an axis of extent left
  bound_from_end,    ///< -right is a bound of a slice of an axis of extent left
  within_32_bits,    ///< left fits into a 32-bit integer
  not_zero,          ///< left is not 0
  readable,          ///< left is not 0, or right is 0, so that nothing is read
  groups_cover,      ///< an axis of extent left has as many indices as the groups together: right
  mapped_sizes       ///< the mapped arguments agree
};

/// One array axis that is mapped: a line of the message about sizes that disagree.
struct mapped_argument {
  int argument = 0; ///< number of the argument's leaf
  int axis = 0;
  abstract_value value;
};

/// A condition on extents that only the call can decide. It is checked before anything runs.
struct guard {
  guard_kind kind = guard_kind::equal_extents;
  std::string_view operation;
  dim left, right;
  abstract_value left_value, right_value;           ///< the operands; if there is one, it is the left value
  growing_vector<mapped_argument> mapped_arguments; ///< mapped_sizes: all that are mapped

  constexpr bool asks_for_equality() const {
    return kind == guard_kind::equal_extents || kind == guard_kind::broadcast_extents ||
           kind == guard_kind::same_size || kind == guard_kind::mapped_sizes;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
