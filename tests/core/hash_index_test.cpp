// Equal things are found again by their hashes.
#include "support/test.hpp"

#include <parallax/core/support/hash_index.hpp>

namespace hash_index_test {

using parallax::detail::hash_index;

namespace {

constexpr auto any = [](int) { return true; };

static_assert(hash_index{}.find(0, any) == -1);

// things of one hash are told apart by what they are
static_assert([] {
  hash_index index;
  for (int number = 0; number < 3; ++number) index.add(7, number);
  auto is = [](int wanted) { return [wanted](int number) { return number == wanted; }; };
  return index.find(7, is(0)) == 0 && index.find(7, is(2)) == 2 && index.find(7, is(3)) == -1 &&
         index.find(8, any) == -1;
}());

// hashes in one slot are told apart, and all are found again after the index has grown
static_assert([] {
  hash_index index;
  for (int number = 0; number < 300; ++number) index.add(static_cast<std::uint64_t>(number) * 1024, number);
  for (int number = 0; number < 300; ++number)
    if (index.find(static_cast<std::uint64_t>(number) * 1024, any) != number) return false;
  return index.find(1, any) == -1;
}());

} // namespace

} // namespace hash_index_test
