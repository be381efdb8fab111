// Collectives in a row, of many devices, and in small stacks; those that some device does not come to, or takes for
// others.
#include <parallax/host/devices/collectives.hpp>

#include "host/cube_of_devices.hpp"
#include "support/test.hpp"

#include <parallax/host/devices/device_pool.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <limits.h>
#include <pthread.h>

namespace collectives_test {

namespace {

using namespace parallax;
using namespace parallax::detail;
using namespace parallax::host;

using cube_of_devices::at, cube_of_devices::cube, cube_of_devices::group_of;

} // namespace

TEST_CASE("positions of a mesh are row-major", "[collectives]") {
  const std::array<std::int64_t, 4> sizes{2, 3, 1, 4};
  team mesh(sizes);
  CHECK(mesh.size() == 24);
  for (int p = 0; p < 24; ++p) {
    CHECK(mesh.axis_index(p, 0) == 0);
    CHECK(mesh.axis_index(p, 0b0001) == p / 12);
    CHECK(mesh.axis_index(p, 0b0010) == p / 4 % 3);
    CHECK(mesh.axis_index(p, 0b0100) == 0);
    CHECK(mesh.axis_index(p, 0b1000) == p % 4);
    CHECK(mesh.axis_index(p, 0b0011) == p / 4);
    CHECK(mesh.axis_index(p, 0b1001) == p / 12 * 4 + p % 4);
    CHECK(mesh.axis_index(p, 0b1111) == p);
  }
  CHECK(mesh.group_size(0b1011) == 24);
  CHECK(mesh.group_size(0b1010) == 12);
}

TEST_CASE("thousands of collectives in a row, over changing groups and sizes", "[collectives]") {
  device_pool pool(8);
  team mesh(cube);
  constexpr int steps = 4000;
  std::vector<std::vector<std::int32_t>> values(8, std::vector<std::int32_t>(400));
  std::vector<int> wrong(8, 0);
  for (int p = 0; p < 8; ++p) at(values, p).assign(400, p);
  pool.run(mesh, [&](int p) {
    std::vector<std::int32_t> out(400);
    for (int step = 0; step < steps; ++step) {
      const unsigned mask = static_cast<unsigned>(step * 5 + step / 7) % 7 + 1;
      const std::size_t count = step % 3 == 0 ? 400 : 3; // both ways of publication
      const std::int32_t mine = p * 1000 + step;
      std::fill_n(at(values, p).begin(), count, mine);
      all_reduce({mesh, p, mask}, reduction::sum, element_type::int32, at(values, p).data(), out.data(), count);
      std::int32_t expected = 0;
      for (int member : group_of(p, mask)) expected += member * 1000 + step;
      at(wrong, p) += out[0] != expected || out[count - 1] != expected;
    }
  });
  CHECK(std::accumulate(wrong.begin(), wrong.end(), 0) == 0);
}

TEST_CASE("64 devices", "[collectives]") {
  device_pool pool(64);
  const std::array<std::int64_t, 2> sizes{8, 8};
  team mesh(sizes);
  std::vector<std::vector<float>> out(64, std::vector<float>(1000)), in_place(64);
  pool.run(mesh, [&](int p) {
    at(in_place, p).assign(1000, static_cast<float>(p));
    float* const own = at(in_place, p).data();
    all_reduce({mesh, p, 0b11}, reduction::sum, element_type::float32, own, own, 1000);
    const std::vector<float> in(1000, static_cast<float>(p));
    for (int step = 0; step < 30; ++step) {
      all_reduce({mesh, p, 0b11}, reduction::sum, element_type::float32, in.data(), at(out, p).data(),
                 step % 2 ? 1000 : 1);
      all_reduce({mesh, p, 0b01}, reduction::max, element_type::float32, in.data(), at(out, p).data() + 1, 1);
    }
  });
  for (int p = 0; p < 64; ++p) {
    CHECK(at(in_place, p) == std::vector<float>(1000, 2016.f));
    CHECK(at(out, p)[0] == 2016.f);
    CHECK(at(out, p)[1] == static_cast<float>(56 + p % 8));
    CHECK(at(out, p)[999] == 2016.f);
  }
}

TEST_CASE("a thread with a small stack takes part", "[collectives]") {
  static std::vector<std::int64_t> sums;
  sums.assign(13, 0);
  const auto reduce = [](void*) -> void* {
    device_pool pool(13);
    const std::array<std::int64_t, 1> sizes{13};
    team mesh(sizes);
    pool.run(mesh, [&](int p) { // the caller's thread is one of them
      const std::vector<std::int64_t> in(3000, p);
      std::vector<std::int64_t> out(3000);
      all_reduce({mesh, p, 0b1}, reduction::sum, element_type::int64, in.data(), out.data(), 3000);
      std::vector<std::int64_t> part(200);
      reduce_scatter({mesh, p, 0b1}, reduction::sum, element_type::int64, out.data(), part.data(), 1, 200);
      at(sums, p) = std::accumulate(part.begin(), part.end(), std::int64_t{0});
    });
    return nullptr;
  };
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN) + (96U << 10)) == 0);
  REQUIRE(pthread_attr_setguardsize(&attributes, 1U << 20) == 0); // so that nothing is written past its end unnoticed
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, reduce, nullptr) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  CHECK(sums == std::vector<std::int64_t>(13, 78 * 13 * 200));
}

TEST_CASE("a device that never arrives ends the others' wait at the deadline", "[collectives]") {
  device_pool pool(8);
  const std::array<std::string_view, 3> names{"layer", "batch", "model"};
  const std::array<int, 8> reversed{7, 6, 5, 4, 3, 2, 1, 0};
  team mesh(cube, reversed, names);
  mesh.set_timeout(std::chrono::milliseconds(50));
  const auto late = [&](int p) {
    float value = 1;
    all_reduce({mesh, p, 0b110}, reduction::sum, element_type::float32, &value, &value, 1);
    if (p == 2) return;
    all_reduce({mesh, p, 0b110}, reduction::sum, element_type::float32, &value, &value, 1);
  };
  try {
    pool.run(mesh, late);
    FAIL("the run ended without an error");
  } catch (const timeout_error& e) {
    CHECK(e.collective() == "all_reduce");
    CHECK(e.axes() == "axes \"batch\", \"model\"");
    CHECK(e.sequence() == 2);
    CHECK(e.arrived() == std::vector<int>{7, 6, 4});
    CHECK(e.missing() == std::vector<int>{5});
    CHECK(std::string(e.what()) ==
          "device " + std::to_string(e.device()) +
              ": waited 0.05 s in all_reduce over axes \"batch\", \"model\" (collective number 2 "
              "over them); arrived: 7, 6, 4; missing: 5");
  }
  // The team and the pool work again.
  std::vector<float> values(8, 1);
  pool.run(mesh, [&](int p) {
    all_reduce({mesh, p, 0b111}, reduction::sum, element_type::float32, &at(values, p), &at(values, p), 1);
  });
  CHECK(values == std::vector<float>(8, 8.f));
}

TEST_CASE("devices in different collectives are told", "[collectives]") {
  device_pool pool(4);
  const std::int64_t size = 4;
  team line({&size, 1});
  std::vector<std::vector<float>> data(4, std::vector<float>(1000));
  const auto run = [&](std::size_t odd_count) {
    pool.run(line, [&](int p) {
      float* own = at(data, p).data();
      all_reduce({line, p, 1}, reduction::sum, element_type::float32, own, own, p == 1 ? odd_count : 1000);
    });
  };
  CHECK_THROWS_WITH(run(999), Catch::Matchers::Matches(".*different collective.*"));
  CHECK_THROWS_WITH(run(1), Catch::Matchers::Matches(".*different collective.*"));
  CHECK_NOTHROW(run(1000));
  CHECK_THROWS_WITH(pool.run(line, [&](int p) { all_gather({line, p, 0b10}, nullptr, nullptr, 0, 0); }),
                    Catch::Matchers::Matches(".*axis that the mesh does not have.*"));
}

} // namespace collectives_test
