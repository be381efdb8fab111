// Collectives that combine values, against plain loops over the mesh, for every group, type and a range of sizes.
#include <parallax/host/devices/collectives.hpp>

#include "host/cube_of_devices.hpp"
#include "support/in_pairs.hpp"
#include "support/test.hpp"

#include <parallax/host/devices/device_pool.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

namespace reducing_collectives_test {

namespace {

using namespace parallax;
using namespace parallax::detail;
using namespace parallax::host;

using cube_of_devices::at, cube_of_devices::cube, cube_of_devices::group_of, cube_of_devices::groups_of,
    cube_of_devices::in_order, cube_of_devices::index_in, cube_of_devices::operands, cube_of_devices::results;

// Sizes below and above what is copied on publication, and not multiples of anything.
constexpr std::size_t counts[] = {0, 1, 7, 129, 1025, 5003};

template <class T> void check_reductions(device_pool& pool) {
  team mesh(cube);
  for (reduction how : {reduction::sum, reduction::max, reduction::min}) {
    for (unsigned mask = 0; mask < 8; ++mask) {
      for (std::size_t count : counts) {
        auto in = operands<T>(count);
        auto out = results<T>(count);
        auto in_place = in;
        pool.run(mesh, [&](int p) {
          all_reduce({mesh, p, mask}, how, element_type_of<T>, at(in, p).data(), at(out, p).data(), count);
          all_reduce({mesh, p, mask}, how, element_type_of<T>, at(in_place, p).data(), at(in_place, p).data(), count);
        });
        for (const auto& members : groups_of(mask)) {
          std::vector<T> expected, values(members.size());
          for (std::size_t i = 0; i < count; ++i) {
            std::ranges::transform(members, values.begin(), [&](int member) { return at(in, member)[i]; });
            expected.push_back(in_order(how, values));
          }
          for (int p : members) {
            REQUIRE(at(out, p) == expected); // in this order: the same bits
            REQUIRE(at(in_place, p) == expected);
          }
        }
      }
    }
  }
}

template <class T> void check_reduce_scatter(device_pool& pool) {
  team mesh(cube);
  for (unsigned mask = 0; mask < 8; ++mask) {
    for (std::size_t inner : {0u, 1u, 3u, 600u, 5003u}) {
      for (std::size_t outer_size : {1u, 5u, 700u}) {
        if (outer_size * inner > 100'000) continue;
        const std::size_t group = group_of(0, mask).size();
        auto in = operands<T>(outer_size * group * inner);
        auto out = results<T>(outer_size * inner);
        pool.run(mesh, [&](int p) {
          reduce_scatter({mesh, p, mask}, reduction::sum, element_type_of<T>, at(in, p).data(), at(out, p).data(),
                         outer_size, inner);
        });
        for (int p = 0; p < 8; ++p) {
          const auto members = group_of(p, mask);
          const auto mine = static_cast<std::size_t>(index_in(members, p));
          std::vector<T> expected, values(members.size());
          for (std::size_t o = 0; o < outer_size; ++o) {
            for (std::size_t i = 0; i < inner; ++i) {
              const std::size_t from = (o * group + mine) * inner + i;
              std::ranges::transform(members, values.begin(), [&](int member) { return at(in, member)[from]; });
              expected.push_back(in_order(reduction::sum, values));
            }
          }
          REQUIRE(at(out, p) == expected);
        }
      }
    }
  }
}

} // namespace

TEST_CASE("all_reduce combines every group of a mesh in pairs", "[collectives]") {
  device_pool pool(8);
  check_reductions<float>(pool);
  check_reductions<double>(pool);
  check_reductions<std::uint8_t>(pool);
  check_reductions<std::int32_t>(pool);
  check_reductions<std::uint32_t>(pool);
  check_reductions<std::int64_t>(pool);
  check_reductions<std::uint64_t>(pool);
}

TEST_CASE("all_reduce of booleans is or and and", "[collectives]") {
  device_pool pool(3);
  const std::int64_t size = 3;
  team line({&size, 1});
  const bool in[3][3] = {{true, false, true}, {true, false, false}, {true, false, true}};
  bool some[3][3], every[3][3];
  pool.run(line, [&](int p) {
    all_reduce({line, p, 1}, reduction::max, element_type::boolean, in[p], some[p], 3);
    all_reduce({line, p, 1}, reduction::min, element_type::boolean, in[p], every[p], 3);
  });
  for (int p = 0; p < 3; ++p) {
    CHECK((some[p][0] && !some[p][1] && some[p][2]));
    CHECK((every[p][0] && !every[p][1] && !every[p][2]));
  }
  CHECK_THROWS_WITH(
      pool.run(line,
               [&](int p) { all_reduce({line, p, 1}, reduction::sum, element_type::boolean, in[p], some[p], 3); }),
      Catch::Matchers::Matches(".*sum of booleans.*"));
}

TEST_CASE("NaN propagates through max and min from every member", "[collectives]") {
  device_pool pool(4);
  const std::int64_t size = 4;
  team line({&size, 1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t count : {std::size_t{4}, std::size_t{4000}}) {
    for (reduction how : {reduction::max, reduction::min}) {
      auto in = operands<float>(count, 4);
      auto out = results<float>(count, 4);
      for (int p = 0; p < 4; ++p) at(in, p)[count - 4 + static_cast<std::size_t>(p)] = nan;
      pool.run(line, [&](int p) {
        all_reduce({line, p, 1}, how, element_type::float32, at(in, p).data(), at(out, p).data(), count);
      });
      for (int p = 0; p < 4; ++p) {
        for (std::size_t i = 0; i < count; ++i) REQUIRE(std::isnan(at(out, p)[i]) == (i >= count - 4));
      }
    }
  }
}

TEST_CASE("13 members of 16 bits are combined in pairs", "[collectives]") {
  constexpr int members = 13;
  device_pool pool(members);
  const std::int64_t size = members;
  team line({&size, 1});
  const auto check = [&]<class T>(T) {
    constexpr std::size_t count = 5003;
    std::vector<std::vector<T>> in, out(members, std::vector<T>(count));
    for (const auto& each : operands<float>(count, members)) in.emplace_back(each.begin(), each.end());
    auto in_place = in;
    pool.run(line, [&](int p) {
      all_reduce({line, p, 1}, reduction::sum, element_type_of<T>, at(in, p).data(), at(out, p).data(), count);
      all_reduce({line, p, 1}, reduction::sum, element_type_of<T>, at(in_place, p).data(), at(in_place, p).data(),
                 count);
    });
    std::vector<T> values(members);
    for (std::size_t i = 0; i < count; ++i) {
      for (int p = 0; p < members; ++p) at(values, p) = at(in, p)[i];
      const T expected = in_pairs(values, [](T a, T b) { return T(static_cast<float>(a) + static_cast<float>(b)); });
      for (int p = 0; p < members; ++p) REQUIRE((at(out, p)[i] == expected && at(in_place, p)[i] == expected));
    }
  };
  check(parallax::float16{});
  check(parallax::bfloat16{});
}

TEST_CASE("results that are written past the caches are whole, wherever they begin", "[collectives]") {
  constexpr int members = 8;
  constexpr std::size_t count = most_cached_bytes / sizeof(float) / (2 * members) + 4321;
  device_pool pool(members);
  const std::int64_t size = members;
  team line({&size, 1});
  auto in = operands<float>(count, members);
  auto out = results<float>(count + 2 * members, members);
  const auto before = [](int p) { return static_cast<std::size_t>(p); };
  pool.run(line, [&](int p) {
    all_reduce({line, p, 1}, reduction::sum, element_type::float32, at(in, p).data(), at(out, p).data() + before(p),
               count);
  });
  std::vector<float> expected, values(members);
  for (std::size_t i = 0; i < count; ++i) {
    std::ranges::transform(in, values.begin(), [&](const auto& operand) { return operand[i]; });
    expected.push_back(in_order(reduction::sum, values));
  }
  for (int p = 0; p < members; ++p) {
    const auto first = at(out, p).begin() + p;
    REQUIRE(std::equal(expected.begin(), expected.end(), first));
    REQUIRE(std::count(at(out, p).begin(), first, 99.f) == p);
    REQUIRE(std::count(first + std::ssize(expected), at(out, p).end(), 99.f) == 2 * members - p);
  }
}

TEST_CASE("reduce_scatter gives each member its slice of the sum", "[collectives]") {
  device_pool pool(8);
  check_reduce_scatter<float>(pool);
  check_reduce_scatter<std::int32_t>(pool);
}

} // namespace reducing_collectives_test
