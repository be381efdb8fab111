// Collectives that move values, against plain loops over the mesh, for every group and a range of sizes.
#include <parallax/host/devices/collectives.hpp>

#include "host/cube_of_devices.hpp"
#include "support/test.hpp"

#include <parallax/host/devices/device_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moving_collectives_test {

namespace {

using namespace parallax;
using namespace parallax::host;

using cube_of_devices::at, cube_of_devices::cube, cube_of_devices::group_of, cube_of_devices::groups_of,
    cube_of_devices::index_in, cube_of_devices::operands, cube_of_devices::results;

} // namespace

TEST_CASE("all_gather lays the members' blocks side by side", "[collectives]") {
  device_pool pool(8);
  team mesh(cube);
  for (unsigned mask = 0; mask < 8; ++mask) {
    for (std::size_t inner : {0u, 1u, 3u, 4u, 8u, 500u, 5003u}) {
      for (std::size_t outer_size : {1u, 5u, 300u}) {
        const std::size_t group = group_of(0, mask).size();
        auto in = operands<std::uint8_t>(outer_size * inner);
        auto out = results<std::uint8_t>(outer_size * group * inner);
        pool.run(mesh,
                 [&](int p) { all_gather({mesh, p, mask}, at(in, p).data(), at(out, p).data(), outer_size, inner); });
        for (const auto& members : groups_of(mask)) {
          std::vector<std::uint8_t> expected;
          for (std::size_t o = 0; o < outer_size; ++o) {
            for (int member : members) {
              for (std::size_t i = 0; i < inner; ++i) expected.push_back(at(in, member)[o * inner + i]);
            }
          }
          for (int p : members) REQUIRE(at(out, p) == expected);
        }
      }
    }
  }
}

TEST_CASE("all_to_all transposes blocks between members", "[collectives]") {
  device_pool pool(8);
  team mesh(cube);
  for (unsigned mask = 0; mask < 8; ++mask) {
    for (std::size_t block : {0u, 3u, 2000u}) {
      const std::size_t group = group_of(0, mask).size();
      auto in = operands<std::uint8_t>(group * block);
      auto out = results<std::uint8_t>(group * block);
      pool.run(mesh, [&](int p) { all_to_all({mesh, p, mask}, at(in, p).data(), at(out, p).data(), block); });
      for (int p = 0; p < 8; ++p) {
        const auto members = group_of(p, mask);
        const auto mine = static_cast<std::size_t>(index_in(members, p)) * block;
        std::vector<std::uint8_t> expected;
        for (int member : members) {
          for (std::size_t i = 0; i < block; ++i) expected.push_back(at(in, member)[mine + i]);
        }
        REQUIRE(at(out, p) == expected);
      }
    }
  }
}

TEST_CASE("permute takes operands from chosen members, or zeros", "[collectives]") {
  device_pool pool(8);
  team mesh(cube);
  for (unsigned mask = 0; mask < 8; ++mask) {
    const int group = static_cast<int>(group_of(0, mask).size());
    for (std::size_t bytes : {0u, 5u, 3000u}) {
      for (int shift = 0; shift <= group; ++shift) {
        // A rotation that drops the member that would wrap around to 0; where `shift == group`, a broadcast from the
        // last.
        const auto source = [&](int index) {
          if (shift == group) return group - 1;
          return index == 0 && shift > 0 ? -1 : (index + shift) % group;
        };
        auto in = operands<std::uint8_t>(bytes);
        auto out = results<std::uint8_t>(bytes);
        pool.run(mesh, [&](int p) {
          if (shift == group) broadcast({mesh, p, mask}, group - 1, at(in, p).data(), at(out, p).data(), bytes);
          else permute({mesh, p, mask}, source(mesh.axis_index(p, mask)), at(in, p).data(), at(out, p).data(), bytes);
        });
        for (int p = 0; p < 8; ++p) {
          const auto members = group_of(p, mask);
          const int from = source(index_in(members, p));
          const auto zeros = std::vector<std::uint8_t>(bytes, 0);
          REQUIRE(at(out, p) == (from < 0 ? zeros : at(in, members[static_cast<std::size_t>(from)])));
        }
      }
    }
  }
  CHECK_THROWS_AS(pool.run(mesh, [&](int p) { permute({mesh, p, 1}, 2, nullptr, nullptr, 0); }), device_error);
  CHECK_THROWS_AS(pool.run(mesh, [&](int p) { broadcast({mesh, p, 1}, 2, nullptr, nullptr, 0); }), device_error);
}

} // namespace moving_collectives_test
