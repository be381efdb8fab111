// The array type that users hold: values in row-major order on the host, shared by copies and copied before a change.
#pragma once

#include <parallax/arrays/array_elements.hpp>
#include <parallax/arrays/array_literal.hpp>
#include <parallax/arrays/checked_shapes.hpp>
#include <parallax/arrays/expression_value.hpp>
#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/arrays/static_extents.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/lazy.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// Makes arrays for results. A program has checked their extents.
struct result_maker;
/// Gives traced functions access to arrays.
struct constant_access;

} // namespace detail

/// An array of elements of type `T`. `Shape` is a rank, `array<float, 2>`, or extents of which some are static,
/// `array<float, extents<dyn, 784>>`. Copies share their memory; a change through `mutable_data` copies it first.
/// Scalars, and arrays of static extents of at most 256 bytes, hold their elements in place instead.
/// An array that was moved from may be assigned to or destroyed. A function that reads its elements throws `error`,
/// unless it had no elements or holds them in place.
template <element T, auto Shape> class array {
 public:
  using value_type = T;
  using extents_type = detail::extents_of<Shape>;
  static constexpr int rank = extents_type::rank;
  using shape_type = std::array<std::int64_t, std::size_t{rank}>;

  /// Zeros; each dynamic extent is 0.
  constexpr array() : array(default_shape(), unset{}) { std::fill_n(raw(), size(), T{}); }

  /// The elements written out: `array<float, 2>{{1, 2}, {3, 4}}`. Throws `shape_error` for ragged lists.
  constexpr array(detail::nested_list_t<T, rank> values)
    requires(rank > 0)
      : array(shape_of(values), unset{}) {
    detail::copy_literal<rank>(values, lengths.data(), raw());
  }

  /// An array of one number.
  template <detail::literal_for<T> U>
    requires(rank == 0)
  constexpr array(U value) : array(shape_type{}, unset{}) {
    *raw() = static_cast<T>(detail::literal<T>(value));
  }

  /// An array whose elements all are `value`: `array<double, 1>({20}, 0.)`. NumPy: full
  template <detail::literal_for<T> U>
    requires(rank > 0)
  constexpr array(const shape_type& shape, U value) : array(shape, unset{}) {
    std::fill_n(raw(), element_total, static_cast<T>(detail::literal<T>(value)));
  }

  /// A copy of `values`, in row-major order. Throws `shape_error` unless there are as many as `shape` holds.
  array(const shape_type& shape, std::span<const T> values) : array(uninitialised(shape)) {
    check_count(values.size(), shape);
    std::copy(values.begin(), values.end(), raw());
  }

  /// Takes over the memory of `values` with its elements. Throws `shape_error`, and leaves the vector as it is, unless
  /// `shape` has as many elements.
  template <class Allocator>
    requires(!std::same_as<T, bool>)
  array(const shape_type& shape, std::vector<T, Allocator>&& values) : array(taken_over(shape, std::move(values))) {}

  /// A copy of a vector's elements. NumPy: array(list)
  template <class Allocator>
    requires(rank == 1)
  explicit array(const std::vector<T, Allocator>& values) : array(uninitialised({std::ssize(values)})) {
    std::copy(values.begin(), values.end(), raw());
  }

  /// The same elements with other extents static; shares the memory. Throws `shape_error` if a static extent differs.
  template <auto Other>
    requires(runtime::extents_agree<extents_type, detail::extents_of<Other>>())
  constexpr array(const array<T, Other>& other) : lengths(checked(other.shape())), element_total(other.size()) {
    if (!__builtin_is_constant_evaluated()) {
      elements = elements_type(other.storage());
    } else if (const runtime::constant_block* const computed = other.elements.computed()) {
      elements = elements_type(computed->copy(*computed));
    } else {
      elements = elements_type(detail::index_of(other.size()));
      std::copy_n(other.data(), other.size(), raw());
    }
  }

  /// The value of an expression, computed in one program. The element type must be the same; astype converts.
  template <detail::lazy_expression E>
  constexpr array(const E& expression) : array(detail::value_of_expression<array>(expression)) {}

  /// A traced array is no array either: inside traced functions there is no memory yet.
  template <std::same_as<tracer> X> array(const X&) noexcept(detail::refuse_memory<X>()) : array(unset{}) {}

  /// A function is no array: this stops compilation, and says so.
  template <class F>
    requires detail::is_transformed<F>
  array(const F&) : array(unset{}) {
    static_assert(!detail::is_transformed<F>, "a transformed function is no array, but gives one where it is called: "
                                              "plx::grad(f)(x)");
  }

  /// Inside a traced function: assigns a traced array to the variable.
  template <std::same_as<tracer> X> constexpr array& operator=(const X& x) & {
    return *this = array(new runtime::assigned_tracer(x));
  }

  /// An array whose elements all are `value`.
  static constexpr array filled(const shape_type& shape, detail::literal<T> value) {
    array result = uninitialised(shape);
    std::fill_n(result.raw(), result.size(), static_cast<T>(value));
    return result;
  }

  /// The array of `shape` that starts at the first byte of `storage`, in row-major order; shares the memory. Throws
  /// `shape_error` if the memory is too small.
  static array adopt(detail::buffer storage, const shape_type& shape) {
    runtime::check_static_extents<extents_type>(shape);
    const std::int64_t size = runtime::size_within(shape, element_type_of<T>, storage.bytes());
    return array(shape, size, std::move(storage));
  }

  /// An array whose elements are yet to be written, through `mutable_data`.
  static constexpr array uninitialised(const shape_type& shape) { return array(shape, unset{}); }

  /// The extents.
  constexpr const shape_type& shape() const { return lengths; }
  /// The extent along `axis`; a negative axis counts from the last.
  constexpr std::int64_t shape(int axis) const {
    const std::int64_t extent = lengths[detail::index_of(runtime::checked_axis(axis, rank))];
    if (__builtin_is_constant_evaluated() && extent == dyn) runtime::has_no_extents_before_it_meets_a_traced_array();
    return extent;
  }
  /// The number of elements.
  constexpr std::int64_t size() const { return element_total; }

  /// The first element; the others follow in row-major order.
  constexpr const T* data() const { return raw(); }
  /// The first element, for writing. Elements that other arrays share are copied first. From then on GPUs keep no copy
  /// of the array, since the pointer may be used at any time.
  T* mutable_data() {
    check_not_moved_from();
    elements.become_unique(detail::index_of(element_total));
    return elements.data();
  }
  /// The memory, to be read; a copy of it if the array holds its few elements in place.
  decltype(auto) storage() const {
    check_not_moved_from();
    return elements.memory();
  }

  /// The element at `indices`, one per dimension; negative ones count from the end. Throws `shape_error`.
  template <std::integral... Index> constexpr const T& operator()(Index... indices) const {
    static_assert(sizeof...(Index) == std::size_t{rank}, "parallax: an array takes one index per dimension");
    std::int64_t offset = 0;
    int axis = 0;
    ((offset = offset * shape(axis) + runtime::checked_index(static_cast<std::int64_t>(indices), shape(axis), axis),
      ++axis),
     ...);
    return raw()[offset];
  }

  /// The elements at whole-number indices of axis 0, as an expression: x[i] as inside a traced function
  /// (`ops/indexing/indexing.hpp`).
  template <class Index> constexpr auto operator[](const Index& index) const;
  /// Elements at indices of the first axes, to be read or changed in a new array: `x.at(i).add(y)`, as inside a traced
  /// function (`ops/indexing/indexing.hpp`).
  template <class... Index> constexpr auto at(const Index&... index) const;

  /// The element of an array that has only one. Throws `shape_error`.
  constexpr T item() const {
    if (element_total != 1) runtime::throw_no_single_element(lengths);
    return *raw();
  }
  constexpr explicit operator T() const
    requires(rank == 0)
  {
    return *raw();
  }

  /// All elements in row-major order, valid as long as this array is neither changed nor destroyed.
  constexpr std::span<const T> values() const { return {raw(), detail::index_of(element_total)}; }
  /// A copy of all elements in row-major order.
  std::vector<T> to_vector() const { return std::vector<T>(raw(), raw() + element_total); }

 private:
  using elements_type = runtime::array_elements<T, runtime::count_in_place<T, extents_type>>;

  struct unset {
    explicit unset() = default;
  };
  constexpr explicit array(unset) {}
  constexpr array(const shape_type& shape, unset)
      : array(checked(shape), runtime::size_of(shape, sizeof(T)), unset{}) {}
  constexpr array(const shape_type& shape, std::int64_t size, unset)
      : lengths(shape), element_total(size), elements(detail::index_of(size)) {}
  array(const shape_type& shape, std::int64_t size, detail::buffer storage)
      : lengths(shape), element_total(size), elements(std::move(storage)) {}
  /// An array inside a traced function: a value that is computed there.
  constexpr explicit array(runtime::constant_block* computed) : lengths(extents_type::values), elements(computed) {}
  friend detail::result_maker;
  friend detail::constant_access;
  template <element, auto> friend class array;

  static void check_count(std::size_t count, const shape_type& shape) {
    if (std::cmp_not_equal(count, runtime::checked_size(shape, sizeof(T))))
      throw shape_error("array: " + std::to_string(count) + " values for the shape " + runtime::shape_text(shape));
  }
  template <class Allocator> static array taken_over(const shape_type& shape, std::vector<T, Allocator>&& values) {
    runtime::check_static_extents<extents_type>(shape);
    check_count(values.size(), shape);
    auto* const first = reinterpret_cast<std::byte*>(values.data());
    const std::size_t bytes = values.size() * sizeof(T);
    return adopt(detail::buffer::take_over(first, bytes, std::move(values)), shape);
  }
  static constexpr shape_type default_shape() {
    shape_type shape = extents_type::values;
    for (std::int64_t& extent : shape)
      if (extent == dyn) extent = 0;
    return shape;
  }
  static constexpr const shape_type& checked(const shape_type& shape) {
    runtime::check_static_extents<extents_type>(shape);
    return shape;
  }
  static constexpr shape_type shape_of(detail::nested_list_t<T, rank> values) {
    shape_type shape{};
    detail::literal_shape<rank>(values, shape.data());
    return shape;
  }
  constexpr const T* raw() const {
    if (const T* const first = elements.first_on_host()) return first;
    check_not_moved_from();
    return elements.data();
  }
  constexpr T* raw() { return elements.data(); }
  void check_not_moved_from() const {
    if (elements.is_null() && element_total != 0) runtime::throw_moved_from();
  }

  shape_type lengths{};
  std::int64_t element_total = 0;
  elements_type elements;
};

namespace detail {

template <class T, auto Shape> inline constexpr bool is_assigned_to_tracers<array<T, Shape>> = true;

} // namespace detail

// Rows deduce as C arrays: g++ 12 tries guides with initialiser lists only if the class has such a constructor for any
// arguments.
template <detail::lazy_expression E>
array(const E&) -> array<typename detail::evaluated_type<E>::value_type, detail::evaluated_type<E>::shape>;

template <std::same_as<tracer> X> array(const X&) -> array<float, 0>;

template <element T, class Allocator, std::size_t Rank>
array(const std::int64_t (&)[Rank], std::vector<T, Allocator>&&) -> array<T, int{Rank}>;

template <element T, class Allocator> array(const std::vector<T, Allocator>&) -> array<T, 1>;

template <element T, std::same_as<T>... Rest> array(T, Rest...) -> array<T, 1>;
template <element T, std::size_t... N> array(const T (&... rows)[N]) -> array<T, 2>;
template <element T, std::size_t... N, std::size_t... M> array(const T (&... blocks)[N][M]) -> array<T, 3>;

/// True if both have the same shape and equal elements; a NaN equals nothing. JAX: numpy.array_equal
template <class T, auto ShapeA, auto ShapeB> bool array_equal(const array<T, ShapeA>& a, const array<T, ShapeB>& b) {
  if constexpr (array<T, ShapeA>::rank != array<T, ShapeB>::rank) return false;
  else return a.shape() == b.shape() && plain::equal(a.values(), b.values());
}

} // namespace parallax::PARALLAX_INLINE_VERSION
