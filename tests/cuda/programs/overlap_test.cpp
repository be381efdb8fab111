// Collectives on the side streams: what does not need them runs on, and what needs them waits.
#include "cuda/programs/calls.hpp"
#include "support/simulator/api.hpp"
#include "support/simulator/every_failure.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overlap_test {

namespace plx = parallax;

namespace {

/// The simulator's functions; the streams of all-reduces are noted, and one call of wait_event may be left out.
struct noting_api : simulator::api {
  static inline std::vector<std::uint64_t> streams, kernel_streams;
  static inline int waits = 0, forgotten_wait = 0;
  static inline int work_behind = 0; ///< kernels and products between the first all-reduce and what waits for one
  static inline bool awaited = false;

  static void note() {
    streams.clear();
    kernel_streams.clear();
    waits = work_behind = 0;
    awaited = false;
  }
  static void note_work() { work_behind += !streams.empty() && !awaited ? 1 : 0; }
  static plx::cuda::status all_reduce(const void* from, void* to, std::size_t count, plx::element_type type,
                                      plx::cuda::reduction_kind how, communicator of, stream on) {
    streams.push_back(on.number);
    return simulator::api::all_reduce(from, to, count, type, how, of, on);
  }
  template <class K>
  static plx::cuda::status launch(K kernel, const plx::cuda::launch_shape& shape, stream on,
                                  const typename K::arguments& arguments) {
    kernel_streams.push_back(on.number);
    note_work();
    return simulator::api::launch(kernel, shape, on, arguments);
  }
  static plx::cuda::status multiply(const plx::cuda::matrix_product& product, int device, stream on) {
    note_work();
    return simulator::api::multiply(product, device, on);
  }
  static plx::cuda::status wait_event(stream on, event of) {
    if (!streams.empty() && std::ranges::find(kernel_streams, on.number) != kernel_streams.end()) awaited = true;
    return ++waits == forgotten_wait ? plx::cuda::status{} : simulator::api::wait_event(on, of);
  }
};
using backend = plx::cuda::backend<noting_api>;

struct running_backend : simulated::running_backend<noting_api> {
  explicit running_backend(const plx::cuda::backend_options& options)
      : simulated::running_backend<noting_api>(options) {
    noting_api::note();
  }
};

plx::cuda::backend_options with_overlap_from(std::size_t bytes) {
  plx::cuda::backend_options options;
  options.overlap_bytes = bytes;
  return options;
}
constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

template <class... Arguments> auto results_of(const Arguments&... given) {
  return simulated::results_of<noting_api>(given...);
}
template <class... Arguments> std::vector<float> numbers_of(const Arguments&... given) {
  return simulated::numbers_of(results_of(given...));
}

/// A backward pass of three layers; each gradient is reduced while the next is computed.
constexpr auto loss = [](auto params, auto x) {
  auto [u, v, w] = params;
  return plx::sum(plx::tanh(plx::dot(plx::tanh(plx::dot(plx::tanh(plx::dot(x, u)), v)), w)));
};
constexpr auto training = plx::pmap<"i">([](auto u, auto v, auto w, auto x) {
  auto gradients = plx::pmean<"i">(plx::grad(loss)(std::tuple{u, v, w}, x));
  return plx::tree_map([](auto p, auto g) { return p - 0.5f * g; }, std::tuple{u, v, w}, gradients);
});
plx::array<float, 3> weights(std::int64_t devices, std::int64_t rows, std::int64_t columns, int first) {
  auto result = plx::array<float, 3>::uninitialised({devices, rows, columns});
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] = static_cast<float>((i * 7 + first) % 11) / 8.f - 0.5f;
  return result;
}
template <class Run> auto train(std::int64_t devices, const Run& run) {
  return run(training, weights(devices, 5, 4, 1), weights(devices, 4, 3, 2), weights(devices, 3, 2, 3),
             weights(devices, 6, 5, 4));
}
std::vector<float> numbers_of_training(std::int64_t devices) {
  return train(devices, [](const auto&... given) { return numbers_of(given...); });
}
std::vector<float> expected_of_training(std::int64_t devices) {
  const plx::use_backend host(plx::backend::host);
  const auto results = train(devices, [](const auto& f, const auto&... given) { return f(given...); });
  std::vector<float> all;
  plx::tree_for_each(
      [&](const auto& leaf) {
        const auto whole = leaf.gather();
        all.insert(all.end(), whole.values().begin(), whole.values().end());
      },
      results);
  return all;
}
void require_close(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
}

/// How many all-reduces were on a stream that kernels were on too.
std::ptrdiff_t on_first_streams() {
  return std::ranges::count_if(noting_api::streams, [](std::uint64_t stream) {
    return std::ranges::find(noting_api::kernel_streams, stream) != noting_api::kernel_streams.end();
  });
}

int occurrences(const std::string& whole, const std::string& part) {
  int count = 0;
  for (std::size_t at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1)) ++count;
  return count;
}

} // namespace

TEST_CASE("gradients are reduced on the side streams, and all orders that events allow give the host's results") {
  const std::vector<float> expected = expected_of_training(4);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    simulator::machine machine({.devices = 4, .seed = seed});
    const running_backend running(with_overlap_from(0));
    require_close(numbers_of_training(4), expected);
    REQUIRE(noting_api::streams.size() == 3 * 4);
    REQUIRE(on_first_streams() == 4); // the last one's, which is needed at once
    backend::shut_down();
    machine.finish();
  }
}

TEST_CASE("small collectives wait for one another, and run together") {
  simulator::machine machine({.devices = 4});
  const running_backend running(with_overlap_from(never));
  require_close(numbers_of_training(4), expected_of_training(4));
  REQUIRE(noting_api::streams.size() == 3 * 4);
  REQUIRE(on_first_streams() == 3 * 4);
}

TEST_CASE("what does not need a collective runs although a member of it never comes") {
  simulator::machine machine({.devices = 3, .background = false, .fail_when_stuck = false});
  auto options = with_overlap_from(0);
  options.collective_timeout = std::chrono::milliseconds(20);
  const running_backend running(options);
  auto results = train(3, [](const auto&... given) { return results_of(given...); }); // makes the clique
  results.clear();
  backend::instance().wait_for_all();
  machine.drop_rank(1);
  noting_api::note();
  results = train(3, [](const auto&... given) { return results_of(given...); });
  REQUIRE(noting_api::work_behind >= 3 * 4); // a device's two products and two loops behind the first gradient
  machine.drain();
  // all that has run: each device's first stream is at an event of its side stream, which is at the first all-reduce
  const std::string left = machine.inside().scheduled.waiting();
  CAPTURE(left);
  REQUIRE(occurrences(left, ": waits for an event of stream") == 3);
  REQUIRE(occurrences(left, ": all_reduce (sum) of 6 float32, rank") == 3);
  REQUIRE_THROWS_AS(backend::instance().wait_for_all(), plx::cuda::collective_error);
}

TEST_CASE("each event between the streams is needed: without it, some order gives a fault") {
  // of those that order the side streams, whatever their number among all
  int waits = 0;
  {
    simulator::machine machine({.devices = 2});
    const running_backend running(with_overlap_from(0));
    numbers_of_training(2); // makes the clique, for which all is waited for
    noting_api::note();
    numbers_of_training(2);
    waits = noting_api::waits;
  }
  REQUIRE(waits == 2 * (2 + 1)); // for each device: two groups begin aside, and the second is waited for
  for (int forgotten = 1; forgotten <= waits; ++forgotten) {
    std::string found;
    for (std::uint64_t seed = 1; seed <= 200 && found.empty(); ++seed) {
      simulator::machine machine({.devices = 2, .seed = seed});
      try {
        const running_backend running(with_overlap_from(0));
        numbers_of_training(2);
        noting_api::note();
        noting_api::forgotten_wait = forgotten;
        numbers_of_training(2);
        backend::shut_down();
        machine.finish();
      } catch (const simulator::fault& fault) {
        found = fault.what();
      } catch (const plx::error& error) { // whose text is the fault's
        found = error.what();
      }
      noting_api::forgotten_wait = 0;
    }
    CAPTURE(forgotten);
    REQUIRE(found.find("a missing event") != std::string::npos);
  }
}

TEST_CASE("a failure of any call with collectives on the side streams is reported, and nothing is left behind") {
  const auto calls = simulator::try_every_failure({.devices = 2}, [] {
    const running_backend running(with_overlap_from(0));
    numbers_of_training(2);
    backend::shut_down();
  });
  REQUIRE(calls > 100);
}

} // namespace overlap_test
