// Flags of operands are not those of results.
#include "support/test.hpp"

#include <parallax/core/support/flags.hpp>

#include <type_traits>

namespace flags_test {

using parallax::detail::as_operands;
using parallax::detail::growing_vector;
using parallax::detail::operand_flags;
using parallax::detail::result_flags;

namespace {

template <class To, class From>
constexpr bool turns_into = std::is_constructible_v<To, const From&> || std::is_constructible_v<To, From> ||
                            std::is_assignable_v<To&, const From&> || std::is_assignable_v<To&, From>;
static_assert(!turns_into<operand_flags, result_flags> && !turns_into<result_flags, operand_flags>);
static_assert(!turns_into<operand_flags, growing_vector<char>>);
static_assert(turns_into<operand_flags, operand_flags>);

static_assert(as_operands(result_flags{0, 1, 1}) == operand_flags{0, 1, 1});

} // namespace

TEST_CASE("flags know their numbers") {
  CHECK(operand_flags{0, 1, 0, 1}.numbers() == growing_vector<int>{1, 3});
  CHECK(operand_flags{0, 1}.any());
  CHECK(!operand_flags(3).any());
  CHECK(!operand_flags().any());
}

} // namespace flags_test
