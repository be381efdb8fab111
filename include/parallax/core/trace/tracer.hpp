// The values a user's function computes with while it is traced.
#pragma once

#include <parallax/core/trace/extent.hpp>
#include <parallax/core/trace/refused_uses.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// Whether a type is an expression of constants, which can be assigned to a traced variable. Specialised beside those
/// types.
template <class T> inline constexpr bool is_assigned_to_tracers = false;

} // namespace detail

/// A node of a graph under construction. Copies name the same node. It lives inside one trace only.
class tracer : public detail::refused_uses<tracer> {
 public:
  detail::context* owner = nullptr;
  detail::graph_id scope = detail::graph_id::outermost; ///< the graph that has the node
  detail::node_id id = detail::node_id::none;

  constexpr tracer() = default;
  constexpr tracer(detail::context* trace, detail::graph_id graph, detail::node_id node)
      : owner(trace), scope(graph), id(node) {}

  constexpr tracer(const tracer&) = default;
  /// Assigns to a variable; an element, x[i], cannot be assigned to.
  constexpr tracer& operator=(const tracer&) & = default;

  /// Assigns a constant, such as zeros({3}), to a variable.
  template <class Constant>
    requires detail::is_assigned_to_tracers<Constant>
  constexpr tracer& operator=(const Constant& x) &;

  using detail::refused_uses<tracer>::shape;
  using detail::refused_uses<tracer>::operator=;
  constexpr const detail::graph& home() const { return owner->at(scope); }
  constexpr detail::abstract_value value() const { return home().value(id); }
  constexpr element_type type() const { return home().type(id); }
  constexpr bool weak() const { return home().weak(id); }
  constexpr detail::axis_bits varies() const { return home().varies(id); }
  constexpr int rank() const { return home().rank(id); }
  constexpr detail::dim dimension(int axis) const { return home().extent(id, axis); }
  constexpr detail::dims extents() const { return home().shape(id); }
  /// The extent of an axis; negative axes count from the end.
  constexpr extent shape(int axis) const {
    int from_start = axis < 0 ? axis + rank() : axis;
    if (from_start < 0 || from_start >= rank()) {
      owner->fail(detail::message() << "shape: axis " << axis << " is out of bounds for array of dimension " << rank()
                                    << "; give an axis from " << -rank() << " to " << rank() - 1);
      return {*owner, detail::dim{1}};
    }
    return {*owner, dimension(from_start)};
  }

  /// The elements at an index of axis 0: a number, or whole numbers of any shape, traced or not. One beyond the axis
  /// stands for the last one, and a negative one counts from the end; a number that is known is within the axis.
  /// JAX: x[i]
  template <class Index> constexpr auto operator[](const Index& index) const;
  /// The elements at indices of the first axes, for `get`, `set`, `add` and their like; `none` stands for a whole axis.
  /// JAX: x.at[i, j]
  template <class... Index> constexpr auto at(const Index&... index) const;
};

namespace detail {

template <class T>
concept traced = std::same_as<std::remove_cvref_t<T>, tracer>;

constexpr tracer context::own(const tracer& x) {
  if (x.owner == this || x.owner == nullptr) return x;
  (is_probe ? met : x.owner->met) = is_probe ? x.owner : this;
  abstract_value value = x.value();
  value.varies = {};
  for (dim& size : value.shape) // a symbol of the other trace
    if (!is_static(size)) size = dim{1};
  return {this, graph_id::outermost, at(graph_id::outermost).add_input(value)};
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION

/// Asked for by `auto [a, b] = x`.
template <std::same_as<parallax::tracer> T>
struct std::tuple_size<T> : std::integral_constant<std::size_t, parallax::detail::refuse_binding<T>() ? 2 : 0> {};
