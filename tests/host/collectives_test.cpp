// Collectives against plain loops over the mesh, for every group, type and a range of sizes.
#include <parallax/host/devices/collectives.hpp>

#include "in_pairs.hpp"
#include "test.hpp"
#include <parallax/host/devices/device_pool.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <limits.h>
#include <pthread.h>

namespace collectives_test {

namespace {

using namespace parallax;
using namespace parallax::host;

constexpr std::array<std::int64_t, 3> cube{2, 2, 2};

// Sizes below and above what is copied on publication, and not multiples of anything.
constexpr std::size_t counts[] = {0, 1, 7, 129, 1025, 5003};

// The positions of a group in group order, found by comparing coordinates.
std::vector<int> group_of(int position, unsigned mask) {
  std::vector<int> members;
  for (int other = 0; other < 8; ++other) {
    const unsigned differs = static_cast<unsigned>(position ^ other); // bit 2 is axis 0, bit 0 is axis 2
    const unsigned allowed = (mask & 1) << 2 | (mask & 2) | (mask & 4) >> 2;
    if ((differs & ~allowed) == 0) members.push_back(other);
  }
  return members;
}

/// Each group of the mesh once.
std::vector<std::vector<int>> groups_of(unsigned mask) {
  std::vector<std::vector<int>> groups;
  for (int p = 0; p < 8; ++p) {
    if (auto members = group_of(p, mask); members.front() == p) groups.push_back(std::move(members));
  }
  return groups;
}

int index_in(const std::vector<int>& members, int position) {
  return static_cast<int>(std::find(members.begin(), members.end(), position) - members.begin());
}

template <class T> std::vector<std::vector<T>> operands(std::size_t count, int devices = 8) {
  std::vector<std::vector<T>> all(static_cast<std::size_t>(devices));
  std::uint32_t state = 12345;
  for (auto& each : all) {
    each.resize(count);
    for (T& value : each) {
      state = state * 1664525u + 1013904223u;
      if constexpr (std::is_floating_point_v<T>) value = static_cast<T>(state >> 8) / static_cast<T>(1 << 20) - T(8);
      else value = static_cast<T>(state >> 4);
    }
  }
  return all;
}

template <class T> std::vector<std::vector<T>> results(std::size_t count, int devices = 8) {
  return {static_cast<std::size_t>(devices), std::vector<T>(count, T(99))};
}

template <class T> auto& at(std::vector<T>& all, int i) { return all[static_cast<std::size_t>(i)]; }

template <class T> T plainly(reduction how, T a, T b) {
  switch (how) {
  case reduction::max: return std::max(a, b);
  case reduction::min: return std::min(a, b);
  case reduction::sum: break;
  }
  if constexpr (std::is_floating_point_v<T>) return a + b;
  else return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// The combination in the order that is promised.
template <class T> T in_order(reduction how, const std::vector<T>& values) {
  return in_pairs(values, [&](T a, T b) { return plainly(how, a, b); });
}

template <class T> void check_reductions(device_pool& pool) {
  team mesh(cube);
  for (reduction how : {reduction::sum, reduction::max, reduction::min}) {
    for (unsigned mask = 0; mask < 8; ++mask) {
      for (std::size_t count : counts) {
        auto in = operands<T>(count);
        auto out = results<T>(count);
        auto in_place = in;
        pool.run(mesh, [&](int p) {
          all_reduce(mesh, p, mask, how, element_type_of<T>, at(in, p).data(), at(out, p).data(), count);
          all_reduce(mesh, p, mask, how, element_type_of<T>, at(in_place, p).data(), at(in_place, p).data(), count);
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
          reduce_scatter(mesh, p, mask, reduction::sum, element_type_of<T>, at(in, p).data(), at(out, p).data(),
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
    all_reduce(line, p, 1, reduction::max, element_type::boolean, in[p], some[p], 3);
    all_reduce(line, p, 1, reduction::min, element_type::boolean, in[p], every[p], 3);
  });
  for (int p = 0; p < 3; ++p) {
    CHECK((some[p][0] && !some[p][1] && some[p][2]));
    CHECK((every[p][0] && !every[p][1] && !every[p][2]));
  }
  CHECK_THROWS_WITH(
      pool.run(line, [&](int p) { all_reduce(line, p, 1, reduction::sum, element_type::boolean, in[p], some[p], 3); }),
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
        all_reduce(line, p, 1, how, element_type::float32, at(in, p).data(), at(out, p).data(), count);
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
      all_reduce(line, p, 1, reduction::sum, element_type_of<T>, at(in, p).data(), at(out, p).data(), count);
      all_reduce(line, p, 1, reduction::sum, element_type_of<T>, at(in_place, p).data(), at(in_place, p).data(), count);
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
    all_reduce(line, p, 1, reduction::sum, element_type::float32, at(in, p).data(), at(out, p).data() + before(p),
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
                 [&](int p) { all_gather(mesh, p, mask, at(in, p).data(), at(out, p).data(), outer_size, inner); });
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

TEST_CASE("reduce_scatter gives each member its slice of the sum", "[collectives]") {
  device_pool pool(8);
  check_reduce_scatter<float>(pool);
  check_reduce_scatter<std::int32_t>(pool);
}

TEST_CASE("all_to_all transposes blocks between members", "[collectives]") {
  device_pool pool(8);
  team mesh(cube);
  for (unsigned mask = 0; mask < 8; ++mask) {
    for (std::size_t block : {0u, 3u, 2000u}) {
      const std::size_t group = group_of(0, mask).size();
      auto in = operands<std::uint8_t>(group * block);
      auto out = results<std::uint8_t>(group * block);
      pool.run(mesh, [&](int p) { all_to_all(mesh, p, mask, at(in, p).data(), at(out, p).data(), block); });
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
          if (shift == group) broadcast(mesh, p, mask, group - 1, at(in, p).data(), at(out, p).data(), bytes);
          else permute(mesh, p, mask, source(mesh.axis_index(p, mask)), at(in, p).data(), at(out, p).data(), bytes);
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
  CHECK_THROWS_AS(pool.run(mesh, [&](int p) { permute(mesh, p, 1, 2, nullptr, nullptr, 0); }), device_error);
  CHECK_THROWS_AS(pool.run(mesh, [&](int p) { broadcast(mesh, p, 1, 2, nullptr, nullptr, 0); }), device_error);
}

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
      all_reduce(mesh, p, mask, reduction::sum, element_type::int32, at(values, p).data(), out.data(), count);
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
    all_reduce(mesh, p, 0b11, reduction::sum, element_type::float32, own, own, 1000);
    const std::vector<float> in(1000, static_cast<float>(p));
    for (int step = 0; step < 30; ++step) {
      all_reduce(mesh, p, 0b11, reduction::sum, element_type::float32, in.data(), at(out, p).data(),
                 step % 2 ? 1000 : 1);
      all_reduce(mesh, p, 0b01, reduction::max, element_type::float32, in.data(), at(out, p).data() + 1, 1);
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
      all_reduce(mesh, p, 0b1, reduction::sum, element_type::int64, in.data(), out.data(), 3000);
      std::vector<std::int64_t> part(200);
      reduce_scatter(mesh, p, 0b1, reduction::sum, element_type::int64, out.data(), part.data(), 1, 200);
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
    all_reduce(mesh, p, 0b110, reduction::sum, element_type::float32, &value, &value, 1);
    if (p == 2) return;
    all_reduce(mesh, p, 0b110, reduction::sum, element_type::float32, &value, &value, 1);
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
    all_reduce(mesh, p, 0b111, reduction::sum, element_type::float32, &at(values, p), &at(values, p), 1);
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
      all_reduce(line, p, 1, reduction::sum, element_type::float32, own, own, p == 1 ? odd_count : 1000);
    });
  };
  CHECK_THROWS_WITH(run(999), Catch::Matchers::Matches(".*different collective.*"));
  CHECK_THROWS_WITH(run(1), Catch::Matchers::Matches(".*different collective.*"));
  CHECK_NOTHROW(run(1000));
  CHECK_THROWS_WITH(pool.run(line, [&](int p) { all_gather(line, p, 0b10, nullptr, nullptr, 0, 0); }),
                    Catch::Matchers::Matches(".*axis that the mesh does not have.*"));
}

} // namespace collectives_test
