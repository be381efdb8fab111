// A row-major array in a program's memory, as users' own functions take it.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION {

/// A row-major array that a function reads or, if T is not const, writes. It owns no memory. JAX: ffi::Buffer
template <class T, int Rank> class ffi_buffer {
 public:
  using element_type = T;
  static constexpr int rank = Rank;

  ffi_buffer(T* first, const std::int64_t* extents) : elements(first) {
    for (int axis = 0; axis < Rank; ++axis) sizes[axis] = extents[axis];
  }
  PARALLAX_HD T* data() const { return elements; }
  PARALLAX_HD std::int64_t extent(int axis) const { return sizes[axis]; }
  /// The number of elements.
  PARALLAX_HD std::int64_t size() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < Rank; ++axis) count *= sizes[axis];
    return count;
  }
  /// An element, by one index for each axis.
  template <class... Index>
    requires(sizeof...(Index) == std::size_t{Rank})
  PARALLAX_HD T& operator()(Index... indices) const {
    const std::int64_t places[] = {static_cast<std::int64_t>(indices)..., 0};
    std::int64_t at = 0;
    for (int axis = 0; axis < Rank; ++axis) at = at * sizes[axis] + places[axis];
    return elements[at];
  }

 private:
  T* elements;
  std::int64_t sizes[Rank == 0 ? 1 : detail::index_of(Rank)]{};
};

} // namespace parallax::PARALLAX_INLINE_VERSION
