// Where the numbers of a loop's rounds are: in memory, or made by each round for the next one.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/scan_parameters.hpp>
#include <parallax/transforms/passes/replay.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// So many numbers of rounds are written to memory at most, 256 KiB, since to read one there costs nothing.
inline constexpr std::int64_t most_written_numbers = std::int64_t{1} << 16;

/// What becomes of the last operand of a loop, the numbers of its rounds, which are slices: where nobody asks, the
/// first one stands for all; where they may be many, the round before says.
constexpr void number_rounds(context& trace, scan_parameters& call, tracer number, tracer first,
                             growing_vector<tracer>& operands) {
  if (trace.failed) return;
  if (!trace.at(call.body).needed().contains(number.id)) {
    operands.back() = first;
    call.roles.back() = scan_role::constant;
  } else if (!is_static(call.length) || call.length.number() > most_written_numbers) {
    operands.back() = first;
    call.roles.back() = scan_role::carry;
    trace.active.push_back(call.body);
    add_output(trace, number + build::like(number, 1));
    trace.close_graph();
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
