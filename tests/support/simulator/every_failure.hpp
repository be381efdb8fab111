// Tries what a program does when a call of the api fails, for every call that it makes.
#pragma once

#include "support/simulator/machine.hpp"

#include <cstdint>
#include <exception>

namespace simulator {

/// Runs `program()`, which gives back what it takes, on new machines: in the k-th run the k-th call fails, until a run
/// makes fewer calls. Faults where the program goes on as if nothing had failed, calls that destructors make excepted,
/// or leaves something behind. `does_without()` says whether the program has done without what failed, which nobody
/// need be told of. Returns how many calls the program makes.
template <class Program, class DoesWithout>
std::uint64_t try_every_failure(const machine_options& options, const Program& program,
                                const DoesWithout& does_without) {
  for (std::uint64_t k = 1;; ++k) {
    machine on(options);
    on.fail_call(k);
    bool thrown = false;
    try {
      program();
    } catch (const fault& found) {
      if (on.failed_call().empty()) throw;
      fail("an ignored status: call ", k, ", ", on.failed_call(), ", has failed, and then: ", found.what());
    } catch (const std::exception&) {
      thrown = true;
    }
    if (on.failed_call().empty()) {
      on.finish();
      return on.calls();
    }
    if (!thrown && !on.failed_call_ends() && !does_without())
      fail("an ignored status: call ", k, ", ", on.failed_call(), ", has failed, and nobody was told");
    try {
      on.finish();
    } catch (const fault& found) {
      fail("after call ", k, ", ", on.failed_call(), ", has failed: ", found.what());
    }
  }
}
template <class Program> std::uint64_t try_every_failure(const machine_options& options, const Program& program) {
  return try_every_failure(options, program, [] { return false; });
}

} // namespace simulator
