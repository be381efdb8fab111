// The part of a mesh of devices that one process has.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/support/small_vector.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::processes {

/// One process' indices along an axis of a mesh: `here` of `all`, from `first` on.
struct axis_part {
  std::int64_t first = 0, here = 1, all = 1;

  constexpr bool is_whole() const { return here == all; }
  constexpr bool contains(std::int64_t index) const { return index >= first && index < first + here; }
};

/// The places of one process in a mesh, as a range of indices along each axis, the outermost axis first. Places are
/// numbered row-major, and a process' places have consecutive numbers.
class mesh_part {
 public:
  mesh_part() = default;
  /// `count` places of a mesh of these sizes, from number `begin` on. `fits()` says whether they are ranges of indices
  /// along the axes.
  constexpr mesh_part(plain_span<const std::int64_t> sizes, std::int64_t begin, std::int64_t count) : first(begin) {
    std::int64_t inner = 1; // places for each index along the axis
    for (std::size_t k = sizes.size(); k-- > 0; inner *= sizes[k]) {
      const std::int64_t here = count >= inner * sizes[k] ? sizes[k] : count >= inner ? count / inner : 1;
      axes.insert(0, {begin / inner % sizes[k], here, sizes[k]});
    }
    std::int64_t places = 1;
    for (const axis_part& each : axes) {
      is_box = is_box && each.first + each.here <= each.all;
      places *= each.here;
    }
    is_box = is_box && places == count && begin >= 0 && begin + count <= inner;
  }

  /// Whether the places are a range of indices along each axis.
  constexpr bool fits() const { return is_box; }
  /// The number of the first place.
  constexpr std::int64_t begin() const { return first; }
  constexpr std::int64_t size() const {
    std::int64_t places = 1;
    for (const axis_part& each : axes) places *= each.here;
    return places;
  }
  constexpr int rank() const { return axes.count; }
  constexpr const axis_part& operator[](int axis) const { return axes[axis]; }

 private:
  std::int64_t first = 0;
  small_vector<axis_part, max_rank> axes;
  bool is_box = true;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::processes
