// Shapes and lists of indices as the user writes them.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/lazy.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// `{}` given for a list of extents: the shape of a scalar.
struct no_extents {};

/// A shape in braces.
template <std::size_t N> constexpr extent_list<N> list_of(const extent (&shape)[N]) {
  extent_list<N> list;
  for (std::size_t i = 0; i < N; ++i) list.values[i] = shape[i];
  return list;
}

/// A shape or an index list as the user wrote it.
constexpr message& operator<<(message& out, plain_span<const extent> list) {
  out << '(';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out << ',';
    out << list[i];
  }
  return out << ')';
}

/// Fails: a program's shapes cannot depend on values that it computes. `remedy` says what to give instead.
constexpr void refuse_count(const tracer& count, std::string_view operation, std::string_view what,
                            std::string_view remedy = "give it as a number, or as an argument: plx::count(n)") {
  message text;
  text << operation << ": the " << what << ' ';
  print_value(text, count.owner->extents, count.value());
  count.owner->fail(text << " is known while the program runs only; " << remedy);
}

/// Whether all are extents. A negative number is an error of `operation`, applied to `operand` if there is one; an
/// extent that only the call knows gets a guard.
constexpr bool are_extents(context& trace, std::string_view operation, plain_span<const extent> list,
                           const tracer* operand = nullptr) {
  for (const extent& e : list) {
    if (e.is_negative()) {
      message text;
      text << operation << ": " << e << " in " << list << " is not an extent";
      if (operand != nullptr) print_value(text << ", for ", trace.extents, operand->value());
      trace.fail(text << "; give extents from 0 on");
      return false;
    }
    if (!e.known() && trace.extents.may_be_negative(e.as_dim()))
      require(trace, guard_kind::not_negative, operation, e.as_dim(), dim{}, {});
  }
  return true;
}

/// A shape. Too many dimensions and numbers that are no extents are errors of `operation`.
constexpr dims dims_of(context& trace, std::string_view operation, plain_span<const extent> shape,
                       const tracer* operand = nullptr) {
  dims result;
  if (!check_rank(trace, operation, count_of(shape)) || !are_extents(trace, operation, shape, operand)) return result;
  for (const extent& e : shape) result.push_back(e.as_dim());
  return result;
}
template <std::size_t N>
constexpr dims dims_of(context& trace, std::string_view operation, const extent_list<N>& shape,
                       const tracer* operand = nullptr) {
  return dims_of(trace, operation, shape.view(), operand);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
