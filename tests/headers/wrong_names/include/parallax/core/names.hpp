// Names that no list has, and such as need no list.
#pragma once

#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {
struct inner_type {};
template <class T> inline constexpr bool inner_variable = false;
} // namespace detail

// inline constexpr int inner_comment = 0;
#define INNER_MACRO inline constexpr int inner_of_macro = 0

inline constexpr int listed = 1;
template <class T, int Number = 2>
  requires(Number == 2) && requires(T inner) { inner.size(); }
inline constexpr bool unlisted_variable = true;
inline constexpr auto unlisted_number = [](int inner) { return inner < 3 ? inner : 4; }(5);
inline constexpr int unlisted_constant{6};
template <class T = float> constexpr detail::inner_type unlisted_function(T inner = T{}) {
  int inner_local = 7;
  return {};
}
template <> inline constexpr bool detail::inner_variable<int> = true;

class unlisted_type {
 public:
  constexpr int inner_member() const;
  constexpr bool operator==(const unlisted_type& inner) const = default;
};
constexpr int unlisted_type::inner_member() const { return 8; }
constexpr unlisted_type unlisted_member_like(unlisted_type inner) { return inner; }
constexpr bool operator<=>(unlisted_type inner, int) { return true; }

using unlisted_kind = detail::inner_type;
enum class unlisted_choice : int { inner_first, inner_second };
template <class T>
concept unlisted_test = sizeof(T) == 1;

} // namespace parallax::PARALLAX_INLINE_VERSION
