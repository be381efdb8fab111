// Numbers of all the types that kernels of drawn programs have: how they are read and written, and what primitives make
// of them.
#pragma once

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace properties {

namespace plx = parallax;
using plx::element_type;

/// A number of any of the types that the drawn programs come to.
struct kernel_number {
  double real = 0; ///< of floating types
  std::int64_t whole = 0;

  template <class T> T as() const {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(real);
    else return static_cast<T>(whole);
  }
  template <class T> static kernel_number of(T x) {
    if constexpr (std::is_floating_point_v<T>) return {static_cast<double>(x), 0};
    else return {0, static_cast<std::int64_t>(x)};
  }
};

/// Calls f with a type's element.
template <class F> decltype(auto) with_element(element_type type, const F& f) {
  if (type == element_type::float64) return f(std::type_identity<double>{});
  if (type == element_type::float32) return f(std::type_identity<float>{});
  if (type == element_type::int32) return f(std::type_identity<std::int32_t>{});
  if (type == element_type::int64) return f(std::type_identity<std::int64_t>{});
  if (type == element_type::uint32) return f(std::type_identity<std::uint32_t>{});
  if (type == element_type::uint64) return f(std::type_identity<std::uint64_t>{});
  if (type == element_type::boolean) return f(std::type_identity<bool>{});
  throw std::logic_error("a drawn program has numbers of type " + std::string(name_of(type)));
}
/// Numbers in the host's memory. Kernels are interpreted where they are: a simulated device's memory is its own.
struct host_memory {
  template <class T> T load(const T* from) const {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  template <class T> void store(T* to, T value) const { std::memcpy(to, &value, sizeof value); }
};
template <class Memory> kernel_number load(const Memory& memory, element_type type, const std::byte* from) {
  return with_element(type, [&]<class T>(std::type_identity<T>) {
    return kernel_number::of(memory.load(reinterpret_cast<const T*>(from)));
  });
}
template <class Memory>
void store(const Memory& memory, element_type type, std::byte* to, const kernel_number& number) {
  with_element(type, [&]<class T>(std::type_identity<T>) { memory.store(reinterpret_cast<T*>(to), number.as<T>()); });
}

namespace detail {

namespace primitives = parallax::primitives;

template <class P>
inline constexpr bool is_for_bits =
    std::is_same_v<P, primitives::bitwise_and> || std::is_same_v<P, primitives::bitwise_or> ||
    std::is_same_v<P, primitives::bitwise_xor> || std::is_same_v<P, primitives::bitwise_not>;
/// Which types the evaluation of a primitive is asked for.
template <class P, class T> constexpr bool takes() {
  if constexpr (std::is_same_v<P, primitives::select>) return false; // its operands are of two types
  else if constexpr (is_for_bits<P>) return !std::is_floating_point_v<T>;
  else if constexpr (std::is_same_v<T, bool>)
    return std::is_same_v<P, primitives::equal> || std::is_same_v<P, primitives::not_equal> ||
           std::is_same_v<P, primitives::stop_gradient>;
  else if constexpr (std::is_integral_v<T>)
    return std::is_same_v<P, primitives::add> || std::is_same_v<P, primitives::subtract> ||
           std::is_same_v<P, primitives::multiply> || std::is_same_v<P, primitives::remainder> ||
           std::is_same_v<P, primitives::maximum> || std::is_same_v<P, primitives::minimum> ||
           std::is_same_v<P, primitives::negative> ||
           (std::is_base_of_v<primitives::predicate, P> && !std::is_same_v<P, primitives::is_finite>) ||
           std::is_same_v<P, primitives::stop_gradient> || std::is_base_of_v<primitives::reduction, P> ||
           std::is_same_v<P, primitives::cumsum>;
  else
    return !std::is_same_v<P, primitives::shift_left> && !std::is_same_v<P, primitives::shift_right> &&
           !std::is_same_v<P, primitives::threefry2x32> && !std::is_same_v<P, primitives::philox4x32> &&
           !std::is_same_v<P, primitives::wide_remainder>;
}

[[noreturn]] inline void no_meaning(std::string_view primitive) {
  throw std::logic_error("a drawn program computes what its test does not: " + std::string(primitive));
}

/// Applies a primitive to numbers of one type.
template <class P, class T> kernel_number apply_to(const kernel_number* x, std::size_t count) {
  if constexpr (!takes<P, T>()) no_meaning(P::name);
  else {
    const T a = x[0].as<T>();
    if constexpr (requires { P::evaluate(a); }) return kernel_number::of(P::evaluate(a));
    else if constexpr (requires { P::evaluate(a, a); }) return kernel_number::of(P::evaluate(a, x[1].as<T>()));
    else if constexpr (requires { P::evaluate(a, a, a); })
      return kernel_number::of(P::evaluate(a, x[1].as<T>(), x[2].as<T>()));
    else no_meaning(P::name);
  }
  static_cast<void>(count);
}
template <class P> kernel_number apply(element_type type, const kernel_number* x, std::size_t count) {
  return with_element(type, [&]<class T>(std::type_identity<T>) { return apply_to<P, T>(x, count); });
}
template <class P> kernel_number neutral_of(element_type type) {
  if constexpr (requires { P::template neutral<double>(); })
    return with_element(type, []<class T>(std::type_identity<T>) {
      if constexpr (takes<P, T>()) return kernel_number::of(P::template neutral<T>());
      else return kernel_number{};
    });
  else no_meaning(P::name);
}

struct primitive_functions {
  kernel_number (*apply)(element_type, const kernel_number*, std::size_t);
  kernel_number (*neutral)(element_type);
};
template <class List> struct function_table;
template <class... P> struct function_table<primitives::list<P...>> {
  static constexpr primitive_functions entries[] = {{&apply<P>, &neutral_of<P>}...};
};

} // namespace detail

inline const detail::primitive_functions& functions_of(plx::detail::primitive_id primitive) {
  return detail::function_table<plx::primitives::catalogue>::entries[static_cast<std::size_t>(primitive)];
}

} // namespace properties
