// How devices exchange values.
#pragma once

#include <parallax/core/version.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

enum class exchange_kind : int {
  all_reduce,     ///< combines all values; every device gets the result
  all_gather,     ///< joins all values; every device gets the result
  reduce_scatter, ///< combines all values; every device keeps a slice of the result
  all_to_all,     ///< every device sends a slice to every device
  permute,        ///< every device sends to at most one other
  broadcast       ///< one device sends to every device
};
inline constexpr int exchange_kind_count = static_cast<int>(exchange_kind::broadcast) + 1;
constexpr std::string_view name_of(exchange_kind kind) {
  switch (kind) {
  case exchange_kind::all_reduce: return "all_reduce";
  case exchange_kind::all_gather: return "all_gather";
  case exchange_kind::reduce_scatter: return "reduce_scatter";
  case exchange_kind::all_to_all: return "all_to_all";
  case exchange_kind::permute: return "permute";
  case exchange_kind::broadcast: return "broadcast";
  }
  return "";
}

/// How values of several devices are combined.
enum class reduction_kind : int { sum, max, min };

/// How a permutation says who sends to whom.
enum class permutation_kind : int {
  pairs,    ///< by pairs of a source and a destination
  rotation, ///< by a distance on a ring, the same for all devices
  shift     ///< by a distance on a line; values that leave its ends are lost
};
constexpr std::string_view name_of(permutation_kind kind) {
  switch (kind) {
  case permutation_kind::pairs: return "pairs";
  case permutation_kind::rotation: return "rotation";
  case permutation_kind::shift: return "shift";
  }
  return "";
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
