// Reads and changes elements at indices that are data.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/indexing/index_offsets.hpp>
#include <parallax/ops/indexing/slicing.hpp>
#include <parallax/ops/indexing/window_elements.hpp>

#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The treatment of indices that an axis does not have, in a call's type: `take(x, i, axis<0>, mode::clip)`.
template <index_mode Mode> struct index_mode_t {};
namespace mode {
/// Indices that an axis does not have become its first or its last. JAX: mode='clip'
inline constexpr index_mode_t<index_mode::clipped> clip{};
/// At indices that an axis does not have, reads NaN (whole numbers: the least, unsigned ones the greatest), and writes
/// nothing. JAX: mode='fill'
inline constexpr index_mode_t<index_mode::filled> fill{};
/// Indices go round an axis, as a remainder of its extent. JAX: mode='wrap'
inline constexpr index_mode_t<index_mode::wrapped> wrap{};
/// Writes nothing at indices that an axis does not have. JAX: mode='drop'
inline constexpr index_mode_t<index_mode::dropped> drop{};
} // namespace mode

struct unique_indices_t {};
/// Promises that no two indices name the same element. Results are unspecified if two do. JAX: unique_indices=True
inline constexpr unique_indices_t unique_indices{};

namespace detail {

constexpr std::string_view update_name(scatter_kind kind) {
  switch (kind) {
  case scatter_kind::set_to: return "at(i).set";
  case scatter_kind::add_to: return "at(i).add";
  case scatter_kind::multiply_by: return "at(i).multiply";
  case scatter_kind::smaller_of: return "at(i).min";
  case scatter_kind::larger_of: return "at(i).max";
  }
  return {};
}

/// Elements of a traced array at indices of its first axes: the result of `x.at(i, j)`.
class indexed_elements {
 public:
  constexpr indexed_elements(tracer x, const index_list& indices) : array(x), at(indices) {}

  /// The elements; indices are clipped, or as `mode` says. JAX: x.at[i].get(mode=...)
  constexpr tracer get() const { return read(index_mode::clipped); }
  template <index_mode Mode> constexpr tracer get(index_mode_t<Mode>) const {
    static_assert(Mode != index_mode::dropped,
                  "at(i).get: mode::drop says what is not written; to read, take mode::fill");
    return read(Mode);
  }
  /// The elements, with `value` for those that are not there. JAX: x.at[i].get(mode='fill', fill_value=...)
  template <class Fill> constexpr tracer get(index_mode_t<index_mode::filled>, const Fill& value) const {
    const tracer filling = materialize(*array.owner, value);
    return read(index_mode::filled, &filling);
  }

  // The array after changes to these elements: each is combined with the updates that name it, or set to the last of
  // them. Updates broadcast. Updates at indices that are not there are dropped, or treated as `mode` says. JAX:
  // x.at[i].set(y), ...
  template <class Y, class... Options> constexpr tracer set(const Y& y, Options... options) const {
    return update<scatter_kind::set_to>(y, options...);
  }
  template <class Y, class... Options> constexpr tracer add(const Y& y, Options... options) const {
    return update<scatter_kind::add_to>(y, options...);
  }
  template <class Y, class... Options> constexpr tracer multiply(const Y& y, Options... options) const {
    return update<scatter_kind::multiply_by>(y, options...);
  }
  template <class Y, class... Options> constexpr tracer min(const Y& y, Options... options) const {
    return update<scatter_kind::smaller_of>(y, options...);
  }
  template <class Y, class... Options> constexpr tracer max(const Y& y, Options... options) const {
    return update<scatter_kind::larger_of>(y, options...);
  }
  /// These functions with the way to combine as a template argument.
  template <scatter_kind Kind, class Y, class... Options>
  constexpr tracer update(const Y& y, Options... options) const {
    static_assert(check_operand<Y>());
    index_mode how = index_mode::dropped;
    ((how = mode_among(how, mode_of(options))), ...);
    indexed_window window = window_of(update_name(Kind), array, at, how);
    window.axes.unique = window.axes.unique || (std::same_as<Options, unique_indices_t> || ...);
    return scatter_window(update_name(Kind), array, window, materialize(*array.owner, as_operand(y)), Kind);
  }

 private:
  tracer array;
  index_list at;

  constexpr tracer read(index_mode how, const tracer* filling = nullptr) const {
    return gather_window("at(i).get", array, window_of("at(i).get", array, at, how), filling);
  }
  template <index_mode Mode> static constexpr index_mode mode_of(index_mode_t<Mode>) { return Mode; }
  static constexpr index_mode mode_of(unique_indices_t) { return index_mode::dropped; }
  static constexpr index_mode mode_among(index_mode a, index_mode b) { return a == index_mode::dropped ? b : a; }
};

template <class Index> constexpr tracer as_index(context& trace, const Index& index) {
  if constexpr (std::same_as<Index, none_t>) return {};
  else return materialize(trace, as_operand(index));
}

} // namespace detail

template <class Index> constexpr auto tracer::operator[](const Index& index) const {
  static_assert(detail::check_operand<Index>());
  if constexpr (std::integral<Index>) return index_in_dim(*this, index);
  else {
    const detail::index_list indices{detail::as_index(*owner, index)};
    return detail::gather_window("x[i]", *this, detail::window_of("x[i]", *this, indices, index_mode::clipped));
  }
}
template <class... Index> constexpr auto tracer::at(const Index&... index) const {
  static_assert((true && ... && detail::check_operand<Index>()));
  const int given = static_cast<int>(sizeof...(Index));
  if (given > rank()) {
    detail::message text;
    text << "at: " << given << " indices for ";
    detail::print_value(text, owner->extents, value());
    owner->fail(text << "; give at most one for each axis");
    return detail::indexed_elements(*this, {});
  }
  return detail::indexed_elements(*this, {detail::as_index(*owner, index)...});
}

namespace detail {

struct index_operation : operation<index_operation> {
  static constexpr tracer apply(context&, tracer x, tracer i) {
    if (!i.weak() || !is<primitives::literal>(i) || is_inexact(i.type())) return x[i];
    const std::int64_t bits = parameters_of<primitives::literal>(i).bits; // a number that stands in the function
    return i.type() == element_type::uint64 ? index_in_dim(x, static_cast<std::uint64_t>(bits)) : index_in_dim(x, bits);
  }
};

/// An update of a constant's elements, as an expression's operation.
template <scatter_kind Kind, class... Options> struct update_operation {
  template <class... Index> static constexpr tracer apply(context&, tracer x, tracer updates, const Index&... indices) {
    return x.at(indices...).template update<Kind>(updates, Options{}...);
  }
};
template <class... Options> struct read_operation {
  template <class... Index> static constexpr tracer apply(context&, tracer x, const Index&... indices) {
    return x.at(indices...).get(Options{}...);
  }
};

/// Elements of an array or expression at indices none of which is traced: what `x.at(i, j)` gives.
template <class X, class... Index> class indexed_constant {
 public:
  constexpr indexed_constant(const X& x, const Index&... indices) : array(x), at(indices...) {}

  template <class... Options> constexpr auto get(Options...) const {
    return std::apply([&](const auto&... i) { return lazy<read_operation<Options...>, X, Index...>{{array, i...}}; },
                      at);
  }
  template <class Y, class... Options> constexpr auto set(const Y& y, Options... options) const {
    return update<scatter_kind::set_to>(y, options...);
  }
  template <class Y, class... Options> constexpr auto add(const Y& y, Options... options) const {
    return update<scatter_kind::add_to>(y, options...);
  }
  template <class Y, class... Options> constexpr auto multiply(const Y& y, Options... options) const {
    return update<scatter_kind::multiply_by>(y, options...);
  }
  template <class Y, class... Options> constexpr auto min(const Y& y, Options... options) const {
    return update<scatter_kind::smaller_of>(y, options...);
  }
  template <class Y, class... Options> constexpr auto max(const Y& y, Options... options) const {
    return update<scatter_kind::larger_of>(y, options...);
  }

 private:
  X array;
  std::tuple<Index...> at;

  template <scatter_kind Kind, class Y, class... Options> constexpr auto update(const Y& y, Options... options) const {
    static_assert(check_operand<Y>());
    if constexpr (traced<Y>) {
      const auto of_array = [&](const auto&... i) {
        context& trace = trace_of(y, array, i...);
        return tracer(materialize(trace, array)).at(i...).template update<Kind>(y, options...);
      };
      return std::apply(of_array, at);
    } else {
      return std::apply(
          [&](const auto&... i) {
            return lazy<update_operation<Kind, Options...>, X, operand_t<Y>, Index...>{{array, as_operand(y), i...}};
          },
          at);
    }
  }
};

template <class Index> inline constexpr bool is_untraced_index = is_constant<Index> || eager_operand<Index>;

template <class Expression> constexpr bool refuse_elements() {
  static_assert(std::is_void_v<Expression>,
                "an expression of arrays has elements where it is computed: make a plx::array of it");
  return true;
}

/// What `x.at(i, j)` is of an array or expression.
template <class X, class... Index> constexpr auto elements_at(const X& x, const Index&... index) {
  if constexpr ((traced<Index> || ...)) return tracer(materialize(trace_of(x, index...), x)).at(index...);
  else if constexpr ((is_untraced_index<Index> && ...))
    return indexed_constant<X, operand_t<Index>...>(x, as_operand(index)...);
  else static_assert(refuse_elements<X>());
}

} // namespace detail

template <class Operation, class... Operands>
template <class Index>
constexpr auto lazy<Operation, Operands...>::operator[](const Index& index) const {
  if constexpr (detail::traced<Index>) return tracer(detail::materialize(detail::trace_of(*this, index), *this))[index];
  else if constexpr (detail::is_untraced_index<Index>) return detail::index_operation{}(*this, index);
  else static_assert(detail::refuse_elements<lazy>());
}
template <class Operation, class... Operands>
template <class... Index>
constexpr auto lazy<Operation, Operands...>::at(const Index&... index) const {
  return detail::elements_at(*this, index...);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
