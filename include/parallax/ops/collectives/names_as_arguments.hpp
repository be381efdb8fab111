// Collectives with the axis name behind the array, as JAX writes them: errors that say where the name belongs.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/collectives/collectives.hpp>
#include <parallax/ops/collectives/exchanges.hpp>

#include <initializer_list>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// An axis name that is passed as an argument, where none belongs.
struct name_argument {
  template <std::size_t N> constexpr name_argument(const char (&)[N]) {}
};

template <class T> constexpr bool refuse_name() {
  static_assert(std::is_void_v<T>, "the name of a mapped axis is a template argument: plx::psum<\"i\">(x), and so for "
                                   "every collective");
  return true;
}

} // namespace detail

template <class T, class... More>
constexpr T psum(const T& x, detail::name_argument, const More&...) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T, class... More>
constexpr T pmean(const T& x, detail::name_argument, const More&...) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T, class... More>
constexpr T pmax(const T& x, detail::name_argument, const More&...) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T, class... More>
constexpr T pmin(const T& x, detail::name_argument, const More&...) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T, class... More>
constexpr T all_gather(const T& x, detail::name_argument, const More&...) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T, class... More>
constexpr T psum_scatter(const T& x, detail::name_argument, const More&...) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T, class... More>
constexpr T all_to_all(const T& x, detail::name_argument, const More&...) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T, class... More>
constexpr T pswapaxes(const T& x, detail::name_argument, const More&...) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T, class... More>
constexpr T pbroadcast(const T& x, detail::name_argument, const More&...) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T> constexpr T ppermute(const T& x, detail::name_argument, rotate) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T> constexpr T ppermute(const T& x, detail::name_argument, shift) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T>
constexpr T ppermute(const T& x, detail::name_argument,
                     std::initializer_list<source_destination>) noexcept(detail::refuse_name<T>()) {
  return x;
}
template <class T = tracer> constexpr auto axis_index(detail::name_argument) noexcept(detail::refuse_name<T>()) {
  return 0;
}
template <class T = tracer> constexpr auto axis_size(detail::name_argument) noexcept(detail::refuse_name<T>()) {
  return 0;
}

} // namespace parallax::PARALLAX_INLINE_VERSION
