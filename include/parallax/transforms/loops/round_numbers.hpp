// The numbers of a loop's rounds: read from memory, or made by each round for the next one.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/scan_parameters.hpp>
#include <parallax/transforms/passes/replay.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The most numbers of rounds that are written to memory, 256 KiB, since it costs nothing to read them there.
inline constexpr std::int64_t most_written_numbers = std::int64_t{1} << 16;

/// Decides about a loop's last operand, the slices that are the numbers of its rounds. If the body does not read them,
/// they become a constant. If they are many or their number is unknown, they become a carry that each round increases.
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
