// Where a loop's carries lie from round to round.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/steps.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// The buffers that a carry is in, one for each round: its own buffer, where it ends, is number `first` of them. A
/// carry that stays has one buffer, others have two. Carries that shift, as in `(a, b) -> (b, f(a, b))`, rotate through
/// one ring of buffers: one for each carry, and one more for the new value. So none is copied.
struct carry_ring {
  static constexpr int most = 4;

  buffer_id places[most] = {};
  int size = 0;
  int first = 0;
  int carries = 0; ///< the number of carries in this ring

  /// The number of the buffer, among `places`, that holds the carry after a round that `left` more rounds follow.
  constexpr int place(std::int64_t left) const {
    const auto number = static_cast<int>((first - left) % size);
    return number < 0 ? number + size : number;
  }
  /// Whether the first round, too, reads the carry from one of these buffers, and not from the loop's operand.
  constexpr bool starts_inside() const { return size == 1 || carries > 1; }
};

/// The first result for which `holds`; the number of results if there is none.
template <class Condition>
constexpr std::size_t find_result(plain_span<const scan_result> results, const Condition& holds) {
  std::size_t k = 0;
  while (k < results.size() && !holds(results[k])) ++k;
  return k;
}

/// The number of the loop's result that is a carry with this buffer of its own; the number of results if there is none.
constexpr std::size_t carry_in(plain_span<const scan_result> results, buffer_id place) {
  return find_result(results, [&](const scan_result& y) { return y.other != buffer_id::none && y.buffer == place; });
}

/// The places of the carry that is result number `result` of a loop.
constexpr carry_ring ring_of(plain_span<const scan_result> results, std::size_t result) {
  // the carry before is the one whose other place is this one's own
  auto before = [&](std::size_t carry) {
    const buffer_id own = results[carry].buffer;
    return find_result(results, [&](const scan_result& y) { return y.other == own && y.buffer != own; });
  };
  std::size_t first = result;
  for (std::size_t k = before(first); k != results.size() && k != result; k = before(k)) first = k;
  if (before(first) != results.size()) // a circle, of which the lowest number is the first
    for (std::size_t k = before(first), start = first; k != start; k = before(k)) first = k < first ? k : first;
  carry_ring ring;
  buffer_id place = results[first].buffer;
  do {
    if (ring.size == carry_ring::most) return {.size = carry_ring::most + 1}; // no plan has such
    if (place == results[result].buffer) ring.first = ring.size;
    ring.places[ring.size++] = place;
    const std::size_t carry = carry_in(results, place);
    if (carry == results.size()) break;
    ++ring.carries;
    place = results[carry].other;
  } while (place != results[first].buffer);
  return ring;
}

/// The number of rounds after which all carries of a loop are in the same buffers again.
constexpr int period_of(plain_span<const scan_result> results) {
  int period = 1;
  for (std::size_t k = 0; k < results.size(); ++k)
    if (results[k].other != buffer_id::none) period = std::lcm(period, ring_of(results, k).size);
  return period;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
