// The carries of a loop: how they begin, and what a round may return for them.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/trace/print_value.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/build.hpp>
#include <parallax/transforms/passes/callable.hpp>

#include <cstddef>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The initial carries of a loop.
template <class Init>
constexpr growing_vector<tracer> initial_carries(context& trace, std::string_view operation, const Init& init) {
  growing_vector<tracer> carries = leaves_to_tracers(trace, init);
  for_each(carries, [&](tracer& x) {
    if (x.owner) return;
    trace.fail(message() << operation << ": a carry holds what is no array, such as an extent or a function; let the "
                         << "function close over it");
    x = build::literal(trace, element_type::float32, 0);
  });
  return carries;
}

/// Whether a round returns a tree like its carry; fails otherwise.
template <class Init, class Carry>
constexpr bool returns_carry(context& trace, std::string_view operation, const Carry&) {
  if constexpr (same_structure<traced_t<Init>, Carry>()) return true;
  trace.fail(message() << operation << ": the function returns another tree than the carry that it is given; let it "
                       << "return the same tree");
  return false;
}

/// Converts a function's result to a type if it is weakly typed and of no higher category; whether the result has that
/// type and shape.
constexpr bool becomes(context& trace, std::string_view operation, const abstract_value& wanted, tracer& made) {
  if (made.weak() && made.rank() == wanted.rank() && category_of(made.type()) <= category_of(wanted.type))
    made = build::convert(made, wanted.type);
  const abstract_value value = made.value();
  bool agree = value.type == wanted.type && value.rank() == wanted.rank();
  for (int axis = 0; agree && axis < wanted.rank(); ++axis) {
    const dim left = wanted.shape[axis], right = value.shape[axis];
    if (left == right) continue;
    agree = !is_static(left) || !is_static(right);
    if (agree) require(trace, guard_kind::equal_extents, operation, left, right, wanted, value);
  }
  return agree;
}

/// A round's result for a carry, brought to the carry's type; fails if that cannot be.
constexpr tracer as_carry(context& trace, std::string_view operation, int number, const abstract_value& carry,
                          tracer made) {
  if (becomes(trace, operation, carry, made)) return made;
  message text;
  text << operation << ": carry " << number << " begins as ";
  print_value(text, trace.extents, carry);
  text << ", and the function returns ";
  print_value(text, trace.extents, made.value());
  text << " for it; let both be of one type and shape";
  if (carry.type == element_type::float32 && made.type() == element_type::float64)
    text << " (a double beside whole numbers makes float64: write 0.5f, not 0.5)";
  trace.fail(text);
  return build::zeros(trace, carry);
}

/// Weakly typed numbers that a loop begins with get the type that a round makes of them. Whether there are any.
constexpr bool become_strong(growing_vector<abstract_value>& carries, const growing_vector<tracer>& results) {
  bool any = false;
  for (std::size_t c = 0; c < carries.size(); ++c) {
    if (!carries[c].weak || results[c].weak()) continue;
    carries[c].weak = false;
    any = true;
    if (results[c].rank() == 0 && category_of(results[c].type()) >= category_of(carries[c].type))
      carries[c].type = results[c].type();
  }
  return any;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
