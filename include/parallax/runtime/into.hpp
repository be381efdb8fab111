// Results in memory that the caller gives.
#pragma once

#include <parallax/arrays/memory_of_others.hpp>
#include <parallax/core/types/pytree.hpp>
#include <parallax/core/version.hpp>
#include <parallax/runtime/result_memory.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Where a call's results go, by leaf. See `into`.
template <class... Memory> class results_in {
 public:
  explicit results_in(Memory... by_leaf) : memory(std::move(by_leaf)...) {}

  static constexpr std::size_t count = sizeof...(Memory);
  template <std::size_t I> using element_at = typename std::tuple_element_t<I, std::tuple<Memory...>>::value_type;

  /// The memory in the form that a run of a program takes it.
  std::array<runtime::result_memory, count> given() const {
    return std::apply([](const Memory&... each) { return std::array{each.given()...}; }, memory);
  }

 private:
  std::tuple<Memory...> memory;
};

namespace detail {

/// Elements on the host.
template <class T> struct result_elements {
  using value_type = T;
  runtime::elements_of_others<T> elements;

  runtime::result_memory given() const { return {reinterpret_cast<std::byte*>(elements.first), {}, elements.count}; }
};

/// Memory on a device, which has a `given()` of its own.
template <class M>
concept gives_memory = requires(const std::remove_cvref_t<M>& memory) {
  { memory.given() } -> std::same_as<runtime::result_memory>;
};

template <class M> auto result_memory_of(M&& memory) {
  if constexpr (gives_memory<M>) {
    return std::remove_cvref_t<M>(memory);
  } else {
    const auto elements = runtime::elements_in(std::forward<M>(memory));
    using given = std::remove_pointer_t<decltype(elements.first)>;
    static_assert(!std::is_const_v<given>, "parallax: into: results cannot be written to const elements");
    using T = std::remove_const_t<given>;
    return result_elements<T>{{const_cast<T*>(elements.first), elements.count}};
  }
}

template <class> inline constexpr bool is_results_in = false;
template <class... Memory> inline constexpr bool is_results_in<results_in<Memory...>> = true;

/// Whether the last argument of a call is a result of `into`.
template <class... Args> constexpr bool ends_with_memory() {
  bool last = false;
  ((last = is_results_in<Args>), ...);
  return last;
}

} // namespace detail

/// The last argument of a call that writes its results to memory of the caller, as NumPy's `out` does: `jit(f)(x,
/// into(y))`, or `evaluate(expression, into(y))`. One piece of memory for each leaf of the results: a pointer, a span,
/// another contiguous range or an mdspan, of elements in row-major order. The call returns nothing. It throws
/// `shape_error`, before anything is written, if a range has another number of elements than the result, a pointer is
/// null, or memory overlaps an argument or another result.
template <class... Memory>
  requires((detail::element_memory<Memory> || detail::gives_memory<Memory>) && ...)
auto into(Memory&&... memory) {
  return results_in<decltype(detail::result_memory_of(std::forward<Memory>(memory)))...>(
      detail::result_memory_of(std::forward<Memory>(memory))...);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
