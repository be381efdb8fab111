// The conditions on extents that a program leaves to the call.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Whether a guard holds; `extents[dim]` gives the values of extents.
template <class Extents>
PARALLAX_INLINE bool guard_holds(const plan_view& plan, const Extents& extents, const guard_record& g) {
  const std::int64_t left = extents[g.left], right = extents[g.right];
  switch (g.kind) {
  case guard_kind::equal_extents:
  case guard_kind::broadcast_extents:
  case guard_kind::same_size:
  case guard_kind::groups_cover: return left == right;
  case guard_kind::divisible: return right != 0 && left % right == 0;
  case guard_kind::at_least: return left >= right;
  case guard_kind::not_negative: return left >= 0;
  case guard_kind::index_within: return right < left;
  case guard_kind::index_from_end:
  case guard_kind::bound_from_end: return right <= left;
  case guard_kind::within_32_bits: return left <= std::numeric_limits<std::int32_t>::max();
  case guard_kind::not_zero: return left != 0;
  case guard_kind::readable: return left != 0 || right == 0;
  case guard_kind::mapped_sizes:
    for (const mapped_argument_record& a : plan[g.mapped_arguments])
      if (extents[plan[a.value.shape][index_of(a.axis)]] != left) return false;
    return true;
  }
  return false;
}

/// Throws `shape_error`: a guard does not hold, or an extent is beyond 64 bits. `shapes` are the extents of the call's
/// arguments, by leaf.
[[noreturn]] PARALLAX_RUNTIME_FUNCTION void throw_for_extents(const plan_view& plan, const std::int64_t* const* shapes);

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime

#if PARALLAX_DEFINES_RUNTIME
#include <parallax/runtime/guard_message.hpp>
#endif
