// Virtual devices of which a part fails: the others are released, and the failure is reported.
#include <parallax/host/devices/device_pool.hpp>

#include "host/device_runs.hpp"
#include "support/test.hpp"

#include <parallax/host/devices/collectives.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace failing_devices_test {

namespace {

using namespace parallax;
using namespace parallax::detail;
using namespace parallax::host;

using device_runs::first_devices, device_runs::sum_over;

} // namespace

TEST_CASE("a part that throws releases the others and is reported with its device", "[device_pool]") {
  device_pool pool(8);
  const std::int64_t size = 8;
  team line({&size, 1});
  for (int guilty = 0; guilty < 8; ++guilty) {
    std::atomic<int> released{0};
    std::atomic<int> finished{0};
    try {
      pool.run(line, [&](int position) {
        try {
          for (int step = 0; step < 10; ++step) {
            if (position == guilty && step == 5) throw std::invalid_argument("no such weight");
            sum_over(line, position, 1);
          }
          ++finished;
        } catch (const peer_failed&) {
          ++released;
          throw;
        }
      });
      FAIL("the run ended without an error");
    } catch (const device_error& e) {
      CHECK(e.device() == guilty);
      CHECK(std::string(e.what()) == "device " + std::to_string(guilty) + ": no such weight");
      CHECK_THROWS_AS(std::rethrow_exception(e.original()), std::invalid_argument);
    }
    CHECK(released == 7);
    CHECK(finished == 0);
    // Both are as good as new.
    std::vector<float> sums(8);
    pool.run(line, [&](int position) { sums[static_cast<std::size_t>(position)] = sum_over(line, position, 2); });
    REQUIRE(sums == std::vector<float>(8, 16.f));
  }
}

TEST_CASE("memory of a released part is not in use by others", "[device_pool]") {
  // Operands live in the parts' own frames: a part that left a collective too early would leave dangling pointers,
  // which the address sanitizer sees.
  device_pool pool(8);
  const std::array<std::int64_t, 2> sizes{2, 4};
  team mesh(sizes);
  for (int repeat = 0; repeat < 100; ++repeat) {
    CHECK_THROWS_AS(pool.run(mesh,
                             [&](int position) {
                               for (int step = 0;; ++step) {
                                 if (position == repeat % 8 && step == 3) throw std::runtime_error("stop");
                                 std::vector<float> in(2000, 1.f), out(2000);
                                 all_reduce({mesh, position, step % 2 ? 0b01U : 0b10U}, reduction::sum,
                                            element_type::float32, in.data(), out.data(), in.size());
                               }
                             }),
                    device_error);
  }
}

TEST_CASE("failures without a team and failures that are no std::exception", "[device_pool]") {
  device_pool pool(4);
  const auto devices = first_devices(4);
  std::atomic<int> ended{0};
  CHECK_THROWS_WITH(pool.run(devices,
                             [&](int position) {
                               if (position == 3) throw 7;
                               ++ended;
                             }),
                    "device 3: an exception that is not a std::exception");
  CHECK(ended == 3);
  CHECK_THROWS_AS(pool.run(devices,
                           [](int position) {
                             if (position == 1) throw peer_failed();
                           }),
                  device_error); // the only failure, so it is reported
  const int one = 2;
  try {
    pool.run({&one, 1}, [](int) { throw out_of_memory(1024, "device 2"); });
    FAIL("the run ended without an error");
  } catch (const device_error& e) {
    CHECK(e.device() == 2);
    try {
      std::rethrow_exception(e.original());
    } catch (const out_of_memory& original) {
      CHECK(original.bytes() == 1024);
    }
  }
}

TEST_CASE("members stay in a rendezvous until all are done, also after an abort", "[device_pool]") {
  device_pool pool(2);
  const std::int64_t size = 2;
  team line({&size, 1});
  std::vector<std::byte> data(5000);
  std::atomic<bool> reading{true};
  std::atomic<bool> left_early{false};
  pool.run(line, [&](int position) {
    {
      rendezvous both({line, position, 1}, collective::permute, data.data(), data.data(), data.size());
      if (position == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10)); // so that the other one waits
        line.abort();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        reading = false;
      }
    }
    left_early = left_early || reading;
  });
  CHECK_FALSE(left_early);
}

TEST_CASE("an abort releases all members of a group or none", "[device_pool]") {
  device_pool pool(3);
  const std::int64_t size = 3;
  team line({&size, 1});
  const std::array<std::int64_t, 2> sizes{2, 1};
  int disagreed = 0;
  for (int repeat = 0; repeat < 2000; ++repeat) {
    team pair(sizes);
    std::array<bool, 2> passed{};
    std::atomic<int> ready{0};
    pool.run(line, [&](int position) {
      for (++ready; ready < 3;) std::this_thread::yield();
      if (position == 2) return pair.abort();
      try {
        rendezvous both({pair, position, 1}, collective::permute, nullptr, nullptr, 0);
        passed[static_cast<std::size_t>(position)] = true;
      } catch (const peer_failed&) {
      }
    });
    disagreed += passed[0] != passed[1];
  }
  CHECK(disagreed == 0);
}

} // namespace failing_devices_test
