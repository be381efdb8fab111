// The devices that programs of several processes are tested on: the host's where PARALLAX_BACKEND says so, and
// otherwise simulated CUDA devices, of which PARALLAX_SIMULATED_SEED chooses the order of what is left open. A
// simulated host has PARALLAX_SIMULATED_DEVICES, which its processes divide.
#pragma once

#include "support/simulator/api.hpp"

#include <parallax/distributed.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace process_tests {

inline bool are_devices_simulated() {
  const char* const backend = std::getenv("PARALLAX_BACKEND");
  return backend == nullptr || std::string_view(backend) != "host";
}

/// Calls `run()`, which opens a session and ends it, and returns the program's exit code.
template <class Run> int on_devices(const Run& run) {
  if (!are_devices_simulated()) return run();
  using parallax::runtime::environment_integer;
  const parallax::use_backend here(parallax::backend::cuda);
  simulator::machine_options options;
  options.devices = environment_integer("PARALLAX_SIMULATED_DEVICES", 8, 1, 64);
  options.seed = static_cast<std::uint64_t>(environment_integer("PARALLAX_SIMULATED_SEED", 1, 1, 1'000'000));
  options.fail_when_stuck = false; // there are deadlines
  simulator::machine machine(options);
  try {
    const int result = run();
    parallax::cuda::backend<simulator::api>::shut_down();
    machine.finish();
    return result;
  } catch (const std::exception& found) {
    std::fprintf(stderr, "%s\n", found.what());
    return 1;
  }
}

} // namespace process_tests
