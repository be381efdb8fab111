// The exchanges that need memory beside their operand and result if NCCL serves them.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Whether an exchange is rearranged: NCCL puts members outermost, which is right only if nothing is before them.
constexpr bool is_rearranged(exchange_kind kind, std::size_t outer) {
  return (kind == exchange_kind::all_gather || kind == exchange_kind::reduce_scatter) && outer != 1;
}

/// Whether an exchange is gathered, and combined in the host's order: so are floating numbers if that is asked for.
constexpr bool is_gathered(exchange_kind kind, element_type type, bool deterministic) {
  const bool combines = kind == exchange_kind::all_reduce || kind == exchange_kind::reduce_scatter;
  return combines && deterministic && is_inexact(type);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
