// The values a user's function computes with while it is traced.
#pragma once

#include <parallax/core/context.hpp>

#include <compare>
#include <concepts>
#include <type_traits>

namespace parallax {

/// An extent as traced functions see it: a number, or a symbol that the call resolves.
class extent {
 public:
  context* owner = nullptr;
  dim value = 0;

  constexpr extent() = default;
  constexpr extent(std::integral auto number) : value(static_cast<dim>(number)) {}
  constexpr extent(context* trace, dim number) : owner(trace), value(number) {}

  /// Numbers a user wrote have no owner, so that a negative one is not taken for a symbol.
  constexpr bool known() const { return owner == nullptr || is_static(value); }
  /// The extent as a number; an error in the program where only the call knows it.
  constexpr std::int64_t number() const {
    if (!known())
      owner->fail(
          message()
          << "number: this extent is known at the call only; give the array a static extent to use it as a number");
    return known() ? value : 1;
  }

  friend constexpr extent operator+(extent a, extent b) { return combine(a, b, &dim_table::add); }
  friend constexpr extent operator-(extent a, extent b) { return combine(a, b, &dim_table::subtract); }
  friend constexpr extent operator*(extent a, extent b) { return combine(a, b, &dim_table::multiply); }
  friend constexpr extent operator/(extent a, extent b) { return combine(a, b, &dim_table::divide); }
  /// Whether the two are provably the same.
  friend constexpr bool operator==(extent a, extent b) { return a.value == b.value; }
  /// Of numbers, for loops over an axis and the like.
  friend constexpr std::strong_ordering operator<=>(extent a, extent b) { return a.number() <=> b.number(); }

 private:
  static constexpr extent combine(extent a, extent b, dim (dim_table::*operation)(dim, dim)) {
    context* owner = a.owner ? a.owner : b.owner;
    if (owner) return {owner, (owner->extents.*operation)(a.value, b.value)};
    dim_table numbers;
    return (numbers.*operation)(a.value, b.value);
  }
};

/// A node of a graph under construction. Copies name the same node. It lives inside one trace only.
class tracer {
 public:
  context* owner = nullptr;
  int graph_id = 0;
  int id = 0;

  constexpr abstract_value value() const { return owner->at(graph_id).value(id); }
  constexpr element_type type() const { return owner->at(graph_id).at(id).type; }
  constexpr bool weak() const { return owner->at(graph_id).at(id).weak; }
  constexpr int rank() const { return owner->at(graph_id).at(id).rank; }
  constexpr dim dimension(int axis) const { return owner->at(graph_id).extent(id, axis); }
  constexpr dims extents() const { return owner->at(graph_id).shape(id); }
  /// The extent of an axis; negative axes count from the end.
  constexpr extent shape(int axis) const {
    int from_start = axis < 0 ? axis + rank() : axis;
    if (from_start < 0 || from_start >= rank()) {
      owner->fail(message() << "shape: axis " << axis << " is out of bounds for array of dimension " << rank()
                            << "; give an axis from " << -rank() << " to " << rank() - 1);
      return {owner, 1};
    }
    return {owner, dimension(from_start)};
  }

  /// There is nothing to branch on while compiling. JAX: TracerBoolConversionError
  template <std::same_as<bool> T> explicit constexpr operator T() const {
    static_assert(!std::same_as<T, bool>,
                  "a traced array has no value to branch on: choose between results with plx::where");
    return false;
  }
  template <class Index> constexpr tracer operator[](Index) const {
    static_assert(std::is_void_v<Index>, "a traced array has no operator[]: take one index of an axis with "
                                         "plx::index_in_dim, several with plx::slice_in_dim or plx::slice");
    return *this;
  }
};

template <class T>
concept traced = std::same_as<std::remove_cvref_t<T>, tracer>;

} // namespace parallax
