// Element types: sizes, names, categories, and the whole promotion table.
#include "support/test.hpp"

#include <parallax/core/types/element_type.hpp>

// cblas.h, which is precompiled with the tests, has a bfloat16 too
namespace parallax::element_type_test {

using enum element_type;

namespace {

constexpr element_type all[] = {boolean, uint8, int32, uint32, int64, uint64, float16, bfloat16, float32, float64};

/// JAX's promotion with 64-bit types enabled, row by row in the order of `all`.
constexpr element_type table[10][10] = {
    {boolean, uint8, int32, uint32, int64, uint64, float16, bfloat16, float32, float64},
    {uint8, uint8, int32, uint32, int64, uint64, float16, bfloat16, float32, float64},
    {int32, int32, int32, int64, int64, float64, float16, bfloat16, float32, float64},
    {uint32, uint32, int64, uint32, int64, uint64, float16, bfloat16, float32, float64},
    {int64, int64, int64, int64, int64, float64, float16, bfloat16, float32, float64},
    {uint64, uint64, float64, uint64, float64, uint64, float16, bfloat16, float32, float64},
    {float16, float16, float16, float16, float16, float16, float16, float32, float32, float64},
    {bfloat16, bfloat16, bfloat16, bfloat16, bfloat16, bfloat16, float32, bfloat16, float32, float64},
    {float32, float32, float32, float32, float32, float32, float32, float32, float32, float64},
    {float64, float64, float64, float64, float64, float64, float64, float64, float64, float64},
};

constexpr bool promotes_as_the_table() {
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j)
      if (parallax::promote(all[i], all[j]) != table[i][j]) return false;
  return true;
}
static_assert(promotes_as_the_table());

constexpr bool promotion_is_symmetric() {
  for (element_type a : all)
    for (element_type b : all)
      if (parallax::promote(a, b) != parallax::promote(b, a)) return false;
  return true;
}
static_assert(promotion_is_symmetric());

template <class T> constexpr bool round_trips() {
  constexpr element_type type = parallax::element_type_of<T>;
  return std::same_as<parallax::element_t<type>, T> && parallax::size_of(type) == sizeof(T);
}
static_assert(round_trips<bool>() && round_trips<std::uint8_t>() && round_trips<std::int32_t>() &&
              round_trips<std::uint32_t>() && round_trips<std::int64_t>() && round_trips<std::uint64_t>() &&
              round_trips<parallax::float16>() && round_trips<parallax::bfloat16>() && round_trips<float>() &&
              round_trips<double>());

static_assert(parallax::element<float> && !parallax::element<short> && !parallax::element<char> &&
              !parallax::element<long double>);
static_assert(parallax::name_of(boolean) == "bool" && parallax::name_of(uint64) == "uint64" &&
              parallax::name_of(float16) == "float16" && parallax::name_of(bfloat16) == "bfloat16" &&
              parallax::name_of(float64) == "float64");
static_assert(parallax::detail::category_of(boolean) == 0 && parallax::detail::category_of(uint8) == 1 &&
              parallax::detail::category_of(float32) == 2);
static_assert(parallax::detail::is_signed(int64) && parallax::detail::is_signed(float32) &&
              !parallax::detail::is_signed(uint8) && !parallax::detail::is_signed(boolean));
static_assert(parallax::detail::is_integer(uint64) && !parallax::detail::is_integer(boolean) &&
              !parallax::detail::is_integer(float32) && !parallax::detail::is_integer(float16));
static_assert(parallax::detail::is_inexact(float16) && parallax::detail::is_inexact(bfloat16) &&
              parallax::detail::is_signed(bfloat16));

// the facts beside what the language says of the C++ type
template <class T> constexpr bool facts_hold() {
  constexpr element_type type = parallax::element_type_of<T>;
  constexpr bool halves = std::same_as<T, parallax::float16> || std::same_as<T, parallax::bfloat16>;
  constexpr bool floats = halves || std::floating_point<T>;
  return parallax::size_of(type) == sizeof(T) && parallax::detail::is_inexact(type) == floats &&
         parallax::detail::has_derivatives(type) == floats && parallax::detail::has_double_literal(type) == floats &&
         parallax::detail::has_order(type) == requires(T x) { x < x; } &&
         parallax::detail::is_signed(type) == (static_cast<T>(-1) < static_cast<T>(0)) &&
         parallax::detail::is_integer(type) == (std::integral<T> && !std::same_as<T, bool>) &&
         parallax::detail::is_half_precision(type) == halves;
}
static_assert(facts_hold<bool>() && facts_hold<std::uint8_t>() && facts_hold<std::int32_t>() &&
              facts_hold<std::uint32_t>() && facts_hold<std::int64_t>() && facts_hold<std::uint64_t>() &&
              facts_hold<parallax::float16>() && facts_hold<parallax::bfloat16>() && facts_hold<float>() &&
              facts_hold<double>());

} // namespace

TEST_CASE("every pair of element types meets at JAX's type", "[core]") {
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j) {
      INFO(parallax::name_of(all[i]) << " and " << parallax::name_of(all[j]));
      CHECK(parallax::promote(all[i], all[j]) == table[i][j]);
    }
}

} // namespace parallax::element_type_test
