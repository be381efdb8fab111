// Runs the tests of this executable on simulated CUDA devices, once for each seed; on the host backend, where no number
// of seeds is given.
//
// PARALLAX_SIMULATED_DEVICES   how many devices, 8 by default
// PARALLAX_SIMULATED_SEEDS     how many seeds
// PARALLAX_SIMULATED_FIRST     the first of them, 1 by default
// PARALLAX_SIMULATED_RUNS      how often all run under a seed, 1 by default: from the second time on, graphs are
// launched
#define CATCH_CONFIG_RUNNER
#include "support/test.hpp"

#include "support/simulator/compiled_backend.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

using backend = parallax::cuda::backend<simulator::api>;

int run_on(Catch::Session& session, int devices, int seed, int runs) {
  simulator::machine_options options;
  options.devices = devices;
  options.seed = static_cast<std::uint64_t>(seed);
  if (seed % 3 == 2) options.queue_capacity = 8; // which a program fills
  options.reuses_addresses = seed % 2 == 0;
  simulator::machine machine(options);
  parallax::cuda::backend_options given;
  given.graph_steps = 1;
  given.cached_sections = 100'000;
  if (seed % 2 == 1) given.overlap_bytes = 0; // all that can run on the side streams does
  backend::restart(given);
  const parallax::use_backend here(parallax::backend::cuda);
  int failed = 0;
  for (int run = 0; run < runs && failed == 0; ++run) failed = session.run();
  backend::shut_down();
  machine.finish();
  return failed;
}

} // namespace

int main(int argument_count, char* arguments[]) {
  Catch::Session session;
  if (const int wrong = session.applyCommandLine(argument_count, arguments); wrong != 0) return wrong;
  if (std::getenv("PARALLAX_SIMULATED_SEEDS") == nullptr) {
    const parallax::use_backend here(parallax::backend::host);
    return session.run();
  }
  using parallax::runtime::environment_integer;
  const int devices = environment_integer("PARALLAX_SIMULATED_DEVICES", 8, 1, 64);
  const int seeds = environment_integer("PARALLAX_SIMULATED_SEEDS", 1, 1, 1'000'000);
  const int first = environment_integer("PARALLAX_SIMULATED_FIRST", 1, 0, 1'000'000'000);
  const int runs = environment_integer("PARALLAX_SIMULATED_RUNS", 1, 1, 1000);
  for (int seed = first; seed < first + seeds; ++seed) {
    try {
      if (run_on(session, devices, seed, runs) != 0) {
        std::fprintf(stderr, "failed under seed %d of %d devices\n", seed, devices);
        return 1;
      }
    } catch (const std::exception& found) {
      std::fprintf(stderr, "seed %d of %d devices: %s\n", seed, devices, found.what());
      return 1;
    }
  }
  return 0;
}
