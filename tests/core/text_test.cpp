// Text put together in constant expressions, and names of types in messages.
#include "support/test.hpp"

#include <parallax/core/support/diagnostics.hpp>
#include <parallax/core/trace/context.hpp>

#include <limits>
#include <string>

namespace text_test {

using parallax::detail::text_buffer;

namespace {

static_assert((text_buffer<32>() << "axis " << 3 << ' ' << std::string_view("of") << -12).view() == "axis 3 of-12");
static_assert((text_buffer<32>() << 0).view() == "0");
static_assert((text_buffer<32>() << std::numeric_limits<std::int64_t>::max()).view() == "9223372036854775807");
// what does not fit is cut off
static_assert((text_buffer<4>() << "abcdef").view() == "abcd");
static_assert((text_buffer<3>() << 12 << 34).view() == "123");
static_assert(text_buffer<4>().view().empty());

template <parallax::detail::fixed_string Name> constexpr std::string_view name = Name.view();
static_assert(name<"rows"> == "rows" && name<"">.empty());
static_assert(name<"a">.size() == 1);

constexpr bool prints(const parallax::detail::abstract_value& value, std::string_view expected) {
  parallax::detail::message out;
  parallax::detail::print_value(out, {}, value);
  return out.view() == expected;
}
static_assert(prints({parallax::element_type::float32, false, {parallax::detail::dim{3}, parallax::detail::dim{4}}},
                     "float32[3,4]"));
static_assert(prints({parallax::element_type::boolean, true, {}}, "bool[]"));

struct point {};
static_assert(parallax::detail::type_name<int>() == "int");
static_assert(parallax::detail::type_name<point>().ends_with("point"));
static_assert(parallax::detail::type_name<const char*>().starts_with("const char"));

} // namespace

TEST_CASE("every number prints as the standard library prints it", "[core]") {
  for (std::int64_t value : {std::int64_t{1}, std::int64_t{10}, std::int64_t{-7}, std::int64_t{1234567890123},
                             std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    CHECK(std::string((text_buffer<32>() << value).view()) == std::to_string(value));
}

} // namespace text_test
