// The parameters of primitives that change types and shapes. Rules of all primitives append these.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/building/primitive.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// Axes of an array.
using axis_list = small_vector<int, max_rank>;

/// The axes of an array of this rank, in order.
constexpr axis_list all_axes(int rank) {
  axis_list axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

} // namespace detail

namespace primitives {

struct conversion_parameters {
  element_type type = element_type::float32;
  static constexpr void describe(auto& p, auto& member) { member("type", p.type); }
};

struct broadcast_parameters {
  dims shape;
  axis_list axes; ///< by operand axis: the result axis that it becomes, ascending
  static constexpr void describe(auto& p, auto& member) {
    member("shape", p.shape);
    member("axes", p.axes);
  }
  /// The operand's axis that becomes axis `result`; -1 if none does.
  constexpr int source_of(int result) const {
    for (int k = 0; k < axes.size(); ++k)
      if (axes[k] == result) return k;
    return -1;
  }
};

struct reshape_parameters {
  dims shape;
  static constexpr void describe(auto& p, auto& member) { member("shape", p.shape); }
};

/// By axis: its extent, and the distance in memory from one position to the next.
struct stride_parameters {
  dims shape, strides;
  static constexpr void describe(auto& p, auto& member) {
    member("shape", p.shape);
    member("strides", p.strides);
  }
};

struct transpose_parameters {
  axis_list permutation; ///< result axis k is operand axis permutation[k]
  static constexpr void describe(auto& p, auto& member) { member("permutation", p.permutation); }
};

/// By axis: the first position, the position behind the last one, and the distance from one to the next.
struct slice_parameters {
  dims start, limit;
  small_vector<std::int64_t, max_rank> stride;
  static constexpr void describe(auto& p, auto& member) {
    member("start", p.start);
    member("limit", p.limit);
    member("stride", p.stride);
  }
};

/// By axis: the amount of padding before the elements, after them and between them; none is negative.
struct pad_parameters {
  dims low, high;
  small_vector<std::int64_t, max_rank> interior;
  static constexpr void describe(auto& p, auto& member) {
    member("low", p.low);
    member("high", p.high);
    member("interior", p.interior);
  }
};

struct concatenate_parameters {
  int dimension = 0; ///< the axis along which the operands follow each other
  static constexpr void describe(auto& p, auto& member) { member("dimension", p.dimension); }
};

struct reduction_parameters {
  axis_list axes; ///< ascending
  static constexpr void describe(auto& p, auto& member) { member("axes", p.axes); }
};

} // namespace primitives
} // namespace parallax::PARALLAX_INLINE_VERSION
