// Indices of every whole type, the largest and smallest ones among them, in every mode, into arrays of static and of
// dynamic extents.
#include "expected.hpp"

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace index_types_test {

namespace {

using namespace conformance;
using numbers = std::vector<double>;
__extension__ typedef __int128 wide; // holds numbers of all types

constexpr std::int64_t extent = 5;
constexpr auto reads = [](auto x, auto i) {
  return std::tuple(x[i], plx::take(x, i, 0), x.at(i).get(plx::mode::wrap), x.at(i).add(1.),
                    x.at(i).add(1., plx::mode::clip));
};

template <class T> std::vector<T> some_of() {
  std::vector<T> all{0, 2, 4, 5, 6, 100, std::numeric_limits<T>::max(), std::numeric_limits<T>::max() - 1};
  if constexpr (sizeof(T) > 4) all.push_back(T{1} << 32), all.push_back((T{1} << 32) + 2);
  if constexpr (std::is_signed_v<T>)
    for (T each : {T{-1}, T{-5}, T{-6}, T{-7}, std::numeric_limits<T>::min()}) all.push_back(each);
  return all;
}

template <class Array, class T> void check_type() {
  INFO(plx::name_of(plx::element_type_of<T>));
  const std::vector<T> chosen = some_of<T>();
  const plx::array<T, 1> indices({static_cast<std::int64_t>(chosen.size())}, std::vector<T>(chosen));
  const Array x({extent}, numbers{10, 11, 12, 13, 14});
  numbers clipped, filled, wrapped, added(5), added_clipped(5);
  for (std::size_t k = 0; k < 5; ++k) added[k] = added_clipped[k] = 10. + static_cast<double>(k);
  for (T given : chosen) {
    const wide i = std::is_signed_v<T> && wide{given} < 0 ? wide{given} + extent : wide{given};
    const bool is_there = i >= 0 && i < extent;
    const auto nearest = static_cast<std::size_t>(i < 0 ? 0 : i >= extent ? extent - 1 : i);
    clipped.push_back(10. + static_cast<double>(nearest));
    filled.push_back(is_there ? clipped.back() : NAN);
    wrapped.push_back(10. + static_cast<double>((wide{given} % extent + extent) % extent));
    if (is_there) added[nearest] += 1;
    added_clipped[nearest] += 1;
  }
  const auto [at, taken, around, dropped, moved] = plx::jit(reads)(x, indices);
  const plx::array<double, 1> found[] = {at, taken, around, dropped, moved};
  const numbers* const expected[] = {&clipped, &filled, &wrapped, &added, &added_clipped};
  for (std::size_t k = 0; k < 5; ++k) {
    INFO("mode " << k);
    const std::vector<double> values = found[k].to_vector();
    REQUIRE(values.size() == expected[k]->size());
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK((values[i] == (*expected[k])[i] || (std::isnan(values[i]) && std::isnan((*expected[k])[i]))));
  }
}
template <class Array> void check_types() {
  check_type<Array, std::uint8_t>();
  check_type<Array, std::int32_t>();
  check_type<Array, std::uint32_t>();
  check_type<Array, std::int64_t>();
  check_type<Array, std::uint64_t>();
}

} // namespace

TEST_CASE("indices of every type mean what they say, whatever their size") {
  check_types<plx::array<double, plx::extents<extent>>>();
  check_types<plx::array<double, 1>>();
}

} // namespace index_types_test
