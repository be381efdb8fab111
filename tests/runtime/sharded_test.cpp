// Sharded arrays: the geometry of their pieces, gathering, slicing without a copy, and the bytes counted as moved.
#include <parallax/arrays/sharded.hpp>
#include <parallax/backends/placing.hpp>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "support/test.hpp"

namespace sharded_test {

namespace {

using namespace parallax;
using namespace parallax::detail;

// The element at (i, j, k, l) is ijkl in decimal, so that a misplaced one shows.
std::int32_t numbered(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
  return static_cast<std::int32_t>(((i * 10 + j) * 10 + k) * 10 + l);
}

using shape4 = std::array<std::int64_t, 4>;

array<std::int32_t, 4> whole_array(const shape4& shape) {
  auto result = array<std::int32_t, 4>::uninitialised(shape);
  std::int32_t* out = result.mutable_data();
  for (std::int64_t i = 0; i < shape[0]; ++i)
    for (std::int64_t j = 0; j < shape[1]; ++j)
      for (std::int64_t k = 0; k < shape[2]; ++k)
        for (std::int64_t l = 0; l < shape[3]; ++l) *out++ = numbered(i, j, k, l);
  return result;
}

// Each device's piece by the definition: of a mapped dimension only the index (p / stride) % size.
sharded<std::int32_t, 4> by_definition(const shape4& shape, const std::vector<shard_axis>& axes, int device_count) {
  std::vector<int> devices(static_cast<std::size_t>(device_count));
  std::iota(devices.begin(), devices.end(), 0);
  std::vector<buffer> shards;
  for (int p = 0; p < device_count; ++p) {
    shape4 first{}, last = shape;
    for (const shard_axis& a : axes) {
      const auto axis = static_cast<std::size_t>(a.axis);
      first[axis] = p / a.device_stride % a.size;
      last[axis] = first[axis] + 1;
    }
    std::vector<std::int32_t> piece;
    for (std::int64_t i = first[0]; i < last[0]; ++i)
      for (std::int64_t j = first[1]; j < last[1]; ++j)
        for (std::int64_t k = first[2]; k < last[2]; ++k)
          for (std::int64_t l = first[3]; l < last[3]; ++l) piece.push_back(numbered(i, j, k, l));
    shards.push_back(buffer::allocate(piece.size() * sizeof(std::int32_t)));
    std::memcpy(shards.back().data(), piece.data(), shards.back().bytes());
  }
  return sharded<std::int32_t, 4>::adopt(shape, devices, axes, shards);
}

struct layout {
  shape4 shape;
  std::vector<shard_axis> axes;
  int devices;
};

const std::vector<layout> layouts{
    {{2, 3, 2, 4}, {}, 1},
    {{2, 3, 2, 4}, {}, 3},
    {{2, 3, 2, 4}, {{0, 2, 1}}, 2},
    {{2, 3, 2, 4}, {{1, 3, 1}}, 3},
    {{2, 3, 2, 4}, {{3, 4, 1}}, 4},
    {{2, 3, 2, 4}, {{0, 2, 2}}, 4},            // two copies of each piece, side by side
    {{2, 3, 2, 4}, {{2, 2, 1}}, 6},            // three copies, apart
    {{2, 3, 2, 4}, {{0, 2, 3}, {1, 3, 1}}, 6}, // nested pmaps
    {{2, 3, 2, 4}, {{3, 4, 2}, {0, 2, 1}}, 8}, // out_axes swapped
    {{2, 3, 2, 4}, {{1, 3, 8}, {3, 4, 2}, {2, 2, 1}}, 24},
    {{2, 3, 2, 4}, {{0, 2, 24}, {1, 3, 8}, {2, 2, 4}, {3, 4, 1}}, 48},
    {{1, 3, 1, 2}, {{0, 1, 1}, {2, 1, 1}}, 2},
};

} // namespace

TEST_CASE("gather puts the pieces together, whatever dimensions are mapped") {
  for (const layout& l : layouts) {
    const auto s = by_definition(l.shape, l.axes, l.devices);
    reset_transfers();
    CHECK(array_equal(s.gather(), whole_array(l.shape)));
    CHECK(transfers().device_to_host == static_cast<std::uint64_t>(s.size()) * sizeof(std::int32_t));
    CHECK(transfers().host_to_device == 0);
    const array<std::int32_t, 4> converted = s;
    CHECK(array_equal(converted, whole_array(l.shape)));
  }
}

TEST_CASE("one element is read from the device that holds it") {
  for (const layout& l : layouts) {
    const auto s = by_definition(l.shape, l.axes, l.devices);
    reset_transfers();
    bool right = true;
    std::uint64_t reads = 0;
    for (std::int64_t i = 0; i < l.shape[0]; ++i)
      for (std::int64_t j = 0; j < l.shape[1]; ++j)
        for (std::int64_t k = 0; k < l.shape[2]; ++k)
          for (std::int64_t m = 0; m < l.shape[3]; ++m, ++reads) right = right && s(i, j, k, m) == numbered(i, j, k, m);
    CHECK(right);
    CHECK(transfers().device_to_host == reads * sizeof(std::int32_t));
    CHECK(s(-1, -1, -1, -1) == numbered(l.shape[0] - 1, l.shape[1] - 1, l.shape[2] - 1, l.shape[3] - 1));
    CHECK_THROWS_AS(s(0, 0, 0, l.shape[3]), shape_error);
    CHECK_THROWS_AS(s(-l.shape[0] - 1, 0, 0, 0), shape_error);
  }
}

TEST_CASE("operator[] is the slice along the first dimension") {
  for (const layout& l : layouts) {
    const auto s = by_definition(l.shape, l.axes, l.devices);
    const bool stays = l.axes.size() == 1 && l.axes[0].axis == 0;
    for (std::int64_t i = 0; i < l.shape[0]; ++i) {
      reset_transfers();
      const array<std::int32_t, 3> part = s[i];
      REQUIRE(part.shape() == std::array<std::int64_t, 3>{l.shape[1], l.shape[2], l.shape[3]});
      bool right = true;
      for (std::int64_t j = 0; j < l.shape[1]; ++j)
        for (std::int64_t k = 0; k < l.shape[2]; ++k)
          for (std::int64_t m = 0; m < l.shape[3]; ++m) right = right && part(j, k, m) == numbered(i, j, k, m);
      CHECK(right);
      CHECK(transfers().device_to_host == (stays ? 0 : part.storage().bytes()));
      if (stays) CHECK(part.storage().data() == s.shard_buffer(static_cast<int>(i * l.axes[0].device_stride)).data());
    }
    CHECK(array_equal(s[-1], s[l.shape[0] - 1]));
    CHECK_THROWS_AS(s[l.shape[0]], shape_error);
  }
}

TEST_CASE("shard spreads a dimension over the devices") {
  const auto whole = whole_array({2, 3, 2, 4});
  for (int axis = -4; axis < 4; ++axis) {
    const int counted = axis < 0 ? axis + 4 : axis;
    std::vector<int> devices(static_cast<std::size_t>(whole.shape(axis)));
    std::iota(devices.begin(), devices.end(), 5);
    reset_transfers();
    const auto s = shard(whole, axis, devices);
    CHECK(transfers().host_to_device == static_cast<std::uint64_t>(whole.size()) * sizeof(std::int32_t));
    CHECK(s.devices() == devices);
    CHECK(s.axes() == std::vector<shard_axis>{{counted, whole.shape(axis), 1}});
    CHECK(s.shape() == whole.shape());
    const auto expected =
        by_definition(whole.shape(), {s.axes().begin(), s.axes().end()}, static_cast<int>(devices.size()));
    for (int p = 0; p < static_cast<int>(devices.size()); ++p)
      CHECK(std::ranges::equal(s.shard_values(p), expected.shard_values(p)));
    CHECK(array_equal(s.gather(), whole));
  }
  CHECK_THROWS_AS(shard(whole, 0, std::vector<int>{0, 1, 2}), shape_error);
  CHECK_THROWS_AS(shard(whole, 4, std::vector<int>{0, 1}), shape_error);
  CHECK_THROWS_AS(shard(array<float, 1>{}, 0, std::vector<int>{}), shape_error);
}

TEST_CASE("replicate puts a copy on each device") {
  const array<float, extents<2, 2>> whole{{1, 2}, {3, 4}};
  reset_transfers();
  const sharded<float, extents<2, 2>> s = replicate(whole, std::vector<int>{0, 3, 4});
  CHECK(transfers().host_to_device == 3 * 16);
  CHECK(s.axes().empty());
  for (int p = 0; p < 3; ++p) {
    CHECK(std::ranges::equal(s.shard_values(p), whole.values()));
    CHECK(s.shard_buffer(p).data() != whole.storage().data());
  }
  CHECK(array_equal(s.gather(), whole));
  CHECK_THROWS_AS(s.shard_values(3), shape_error);
  CHECK_THROWS_AS(s.shard_buffer(-1), shape_error);
  CHECK_THROWS_AS(replicate(whole, std::vector<int>{}), shape_error);
}

TEST_CASE("ranks 0 and 1, other element types, and slices that keep their static extents") {
  const std::vector<int> devices{0, 1, 2};
  const auto scalars = shard(array<bool, 1>{true, false, true}, 0, devices);
  CHECK(scalars[0].item());
  CHECK_FALSE(scalars[1].item());
  CHECK(scalars(2));
  CHECK(replicate(array<double, 0>{2.5}, devices)() == 2.5);

  const auto fixed = shard(array<float, extents<3, dyn, 2>>::filled({3, 1, 2}, 1), 0, devices);
  static_assert(std::is_same_v<decltype(fixed[0]), array<float, extents<dyn, 2>>>);
  static_assert(std::is_same_v<decltype(scalars[0]), array<bool, 0>>);
  CHECK(array_equal(fixed[2], array<float, 2>{{1, 1}}));
}

TEST_CASE("a sharded array converts to arrays of all extents that agree with its own") {
  using fixed = sharded<std::int32_t, extents<2, 3>>;
  static_assert(std::is_convertible_v<fixed, array<std::int32_t, 2>>);
  static_assert(std::is_convertible_v<fixed, array<std::int32_t, extents<dyn, 3>>>);
  static_assert(!std::is_convertible_v<fixed, array<std::int32_t, extents<2, 4>>>);
  static_assert(!std::is_convertible_v<fixed, array<std::int32_t, 1>>);
  static_assert(!std::is_convertible_v<fixed, array<float, 2>>);
  static_assert(std::is_same_v<decltype(array(fixed())), array<std::int32_t, extents<2, 3>>>);
  const array<std::int32_t, extents<2, 3>> whole{{1, 2, 3}, {4, 5, 6}};
  const fixed s = shard(whole, 0, std::vector<int>{1, 0});
  const array<std::int32_t, 2> dynamic = s;
  const array<std::int32_t, extents<2, dyn>> half = s;
  const array<std::int32_t, extents<2, 3>> same = s;
  CHECK(array_equal(dynamic, whole));
  CHECK(array_equal(half, whole));
  CHECK(array_equal(same, whole));
  CHECK(array_equal(array<std::int32_t, 2>(s), whole));

  const sharded<std::int32_t, 2> other = shard(dynamic, 0, std::vector<int>{0, 1});
  const array<std::int32_t, extents<2, 3>> again = other;
  CHECK(array_equal(again, whole));
  CHECK_THROWS_WITH((array<std::int32_t, extents<3, 3>>(other)),
                    "array: the shape (2, 3) contradicts the static extents (3, 3)");
}

TEST_CASE("a sharded array starts as zeros, copies share the pieces") {
  CHECK(sharded<float, 2>().shape() == std::array<std::int64_t, 2>{0, 0});
  CHECK(array_equal(sharded<float, extents<2>>().gather(), array<float, 1>{0, 0}));
  CHECK(sharded<float, 0>()() == 0.f);
  CHECK(sharded<float, 0>().item() == 0.f);
  CHECK(static_cast<float>(sharded<float, 0>()) == 0.f);
  CHECK(shard(array<float, 2>{{7}}, 0, std::vector<int>{0}).item() == 7.f);
  const auto s = shard(array<float, 1>{1, 2}, 0, std::vector<int>{0, 1});
  CHECK_THROWS_WITH(s.item(), "item: the array of shape (2,) does not have exactly one element");
  const auto copy = s;
  CHECK(copy.shard_buffer(1).data() == s.shard_buffer(1).data());
}

TEST_CASE("a sharded array that was moved from says so where its pieces are asked for, and can be assigned to") {
  auto s = shard(array<float, 2>{{1, 2}, {3, 4}}, 0, std::vector<int>{0, 1});
  const auto t = std::move(s);
  const char* said = "sharded: it was moved from, so that it has no pieces";
  CHECK_THROWS_WITH(s.gather(), said);
  CHECK_THROWS_WITH(s(1, 0), said);
  CHECK_THROWS_WITH(s[1], said);
  CHECK_THROWS_WITH(s[-1], said);
  CHECK_THROWS_WITH(s.devices(), said);
  CHECK_THROWS_WITH(s.shard_buffer(0), said);
  CHECK_THROWS_WITH(s.shard_values(0), said);
  s = t;
  CHECK(s(1, 0) == 3.f);
}

TEST_CASE("pieces that do not make up the array are refused") {
  const auto pieces = [](std::size_t count, std::size_t floats) {
    std::vector<buffer> shards;
    for (std::size_t i = 0; i < count; ++i) shards.push_back(buffer::allocate(floats * sizeof(float)));
    return shards;
  };
  using s = sharded<float, 2>;
  CHECK_NOTHROW(s::adopt({2, 3}, {0, 1}, {{0, 2, 1}}, pieces(2, 3)));
  CHECK_THROWS_AS(s::adopt({2, 3}, {0, 1}, {{0, 2, 1}}, pieces(2, 2)), shape_error);            // too small
  CHECK_THROWS_AS(s::adopt({2, 3}, {0, 1}, {{0, 2, 1}}, pieces(3, 3)), shape_error);            // one too many
  CHECK_THROWS_AS(s::adopt({2, 3}, {0, 1}, {{1, 2, 1}}, pieces(2, 3)), shape_error);            // wrong extent
  CHECK_THROWS_AS(s::adopt({2, 3}, {0, 1}, {{2, 2, 1}}, pieces(2, 3)), shape_error);            // no such dimension
  CHECK_THROWS_AS(s::adopt({2, 3}, {0}, {{0, 2, 1}}, pieces(1, 3)), shape_error);               // one half missing
  CHECK_THROWS_AS(s::adopt({2, 3}, {0, 1}, {{0, 2, 0}}, pieces(2, 3)), shape_error);            // no stride
  CHECK_THROWS_AS(s::adopt({2, 2}, {0, 1}, {{0, 2, 1}, {0, 2, 1}}, pieces(2, 4)), shape_error); // mapped twice
  CHECK_THROWS_AS(s::adopt({2, 2}, {0, 1}, {{0, 2, 1}, {1, 2, 1}}, pieces(2, 1)), shape_error); // only the diagonal
  CHECK_THROWS_AS(s::adopt({2, 3}, {}, {}, {}), shape_error);
  CHECK_THROWS_AS((sharded<float, extents<2, 4>>::adopt({2, 3}, {0}, {}, pieces(1, 6))), shape_error);
}

TEST_CASE("slices of raw bytes are copied out and back, for elements of any size") {
  for (std::size_t element_bytes : {1u, 3u, 4u, 8u, 20u}) {
    const std::int64_t rows = 3, count = 4;
    std::vector<std::byte> whole(12 * element_bytes), copy(whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<std::byte>(i);
    for (std::int64_t index = 0; index < count; ++index) {
      std::vector<std::byte> piece(3 * element_bytes), expected;
      for (std::size_t o = 0; o < 3; ++o)
        for (std::size_t b = 0; b < element_bytes; ++b)
          expected.push_back(static_cast<std::byte>((o * 4 + static_cast<std::size_t>(index)) * element_bytes + b));
      runtime::copy_slice_out(whole.data(), piece.data(), rows, count, element_bytes, index);
      CHECK(piece == expected);
      std::byte* const slice = copy.data() + static_cast<std::size_t>(index) * element_bytes;
      runtime::copy_slices(piece.data(), 1, slice, count, rows, 1, element_bytes);
    }
    CHECK(copy == whole);
  }
}

TEST_CASE("transfers count by direction") {
  reset_transfers();
  runtime::count_host_to_device(3);
  runtime::count_device_to_host(5);
  runtime::count_device_to_device(7);
  runtime::count_device_to_device(1);
  const transfer_counts counts = transfers();
  CHECK(counts.host_to_device == 3);
  CHECK(counts.device_to_host == 5);
  CHECK(counts.device_to_device == 8);
  reset_transfers();
  CHECK(transfers().device_to_device == 0);
}

} // namespace sharded_test
