// Comparisons.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct equal : predicate {
  static constexpr std::string_view name = "eq";
  template <class V> static PARALLAX_HD auto evaluate(V x, V y) { return math::eq(x, y); }
};
struct not_equal : predicate {
  static constexpr std::string_view name = "ne";
  template <class V> static PARALLAX_HD auto evaluate(V x, V y) { return math::ne(x, y); }
};
struct less : predicate, of_ordered {
  static constexpr std::string_view name = "lt";
  template <class V> static PARALLAX_HD auto evaluate(V x, V y) { return math::lt(x, y); }
};
struct less_equal : predicate, of_ordered {
  static constexpr std::string_view name = "le";
  template <class V> static PARALLAX_HD auto evaluate(V x, V y) { return math::le(x, y); }
};
struct greater : predicate, of_ordered {
  static constexpr std::string_view name = "gt";
  template <class V> static PARALLAX_HD auto evaluate(V x, V y) { return math::gt(x, y); }
};
struct greater_equal : predicate, of_ordered {
  static constexpr std::string_view name = "ge";
  template <class V> static PARALLAX_HD auto evaluate(V x, V y) { return math::ge(x, y); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
