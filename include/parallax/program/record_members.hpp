// What records have as members: ids, sets of small numbers, and lists of other records. A record names its members
// once, in a static function `describe`; how a record is written while compiling, read again and searched follows from
// that.
#pragma once

#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {
// The rooms that compile a program, hold its records and run it use each other's types by their bare names.
namespace detail {}
namespace compiled {
using namespace detail;
}
namespace detail {
using namespace compiled;
}
namespace runtime {
using namespace compiled;
}
} // namespace parallax::PARALLAX_INLINE_VERSION

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// An array of one section: an argument, a result, or an intermediate value.
enum class buffer_id : int { none = -1 };
/// An argument of a section or a result of a call.
enum class value_id : int { none = -1 };
/// A kernel of a program.
enum class kernel_id : int { none = -1 };
/// A part of a program that runs in one place: the main one, or one of those that are mapped over devices.
enum class section_id : int { main = 0 };
/// An axis of a section's mesh of devices, from the outermost in.
enum class mesh_axis : int { none = -1, outermost = 0 };

/// A set of a few small numbers: dimensions of a loop, or axes of a mesh.
struct bit_set {
  unsigned bits = 0;

  constexpr bool contains(int number) const { return (bits >> number & 1U) != 0; }
  constexpr void insert(int number) { bits |= 1U << number; }
  friend constexpr bool operator==(bit_set, bit_set) = default;
  static constexpr void describe(auto& r, auto& field) { field(r.bits); }
};

/// Some records of a pool that follow each other.
template <class T> struct record_list {
  int first = 0, count = 0;

  constexpr bool empty() const { return count == 0; }
  friend constexpr bool operator==(const record_list&, const record_list&) = default;
  static constexpr void describe(auto& r, auto& field) {
    field(r.first);
    field(r.count);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
