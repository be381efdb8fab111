// How devices exchange values.
#pragma once

#include <parallax/core/version.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

enum class exchange_kind : int {
  all_reduce,     ///< all are combined, for everybody
  all_gather,     ///< all are put together, for everybody
  reduce_scatter, ///< all are combined, and everybody keeps a slice
  all_to_all,     ///< everybody sends a slice to everybody
  permute,        ///< everybody sends to at most one other
  broadcast       ///< one sends to everybody
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
  rotation, ///< everybody so far round the ring
  shift     ///< everybody so far along the line; what leaves the ends is lost
};
constexpr std::string_view name_of(permutation_kind kind) {
  switch (kind) {
  case permutation_kind::pairs: return "pairs";
  case permutation_kind::rotation: return "rotation";
  case permutation_kind::shift: return "shift";
  }
  return "";
}

} // namespace parallax::PARALLAX_INLINE_VERSION
