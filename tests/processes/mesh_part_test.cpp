#include "../support/test.hpp"

#include <parallax/processes/mesh_part.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace {

using parallax::processes::mesh_part;

/// Whether places `begin` to `begin + count` are all those whose indices lie between the lowest and the highest of each
/// axis, by going through all.
bool are_a_box(const std::vector<std::int64_t>& sizes, std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> low(sizes), high(sizes.size(), -1);
  for (std::int64_t place = begin; place < begin + count; ++place)
    for (std::size_t k = sizes.size(), rest = static_cast<std::size_t>(place); k-- > 0;) {
      const auto index = static_cast<std::int64_t>(rest) % sizes[k];
      rest /= static_cast<std::size_t>(sizes[k]);
      low[k] = std::min(low[k], index), high[k] = std::max(high[k], index);
    }
  std::int64_t volume = 1;
  for (std::size_t k = 0; k < sizes.size(); ++k) volume *= high[k] - low[k] + 1;
  return volume == count;
}

} // namespace

TEST_CASE("a part of a mesh is indices along each axis, or none") {
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{6}, {3, 2}, {2, 3}, {2, 1, 3}, {4, 2, 2}, {2, 2, 4}}) {
    std::int64_t all = 1;
    for (std::int64_t size : sizes) all *= size;
    for (std::int64_t begin = 0; begin < all; ++begin)
      for (std::int64_t count = 1; begin + count <= all; ++count) {
        const mesh_part part(sizes, begin, count);
        INFO("places " << begin << " to " << begin + count - 1 << " of " << all << " on " << sizes.size() << " axes");
        REQUIRE(part.fits() == are_a_box(sizes, begin, count));
        if (!part.fits()) continue;
        CHECK(part.size() == count);
        std::int64_t first = 0;
        for (int axis = 0; axis < part.rank(); ++axis) first = first * part[axis].all + part[axis].first;
        CHECK(first == begin);
      }
    CHECK_FALSE(mesh_part(sizes, 1, all).fits());
  }
}
