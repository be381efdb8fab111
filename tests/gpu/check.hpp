// Checks that run on a GPU, in a program that needs no test framework.
#pragma once

#include <parallax/cuda/devices/handles.hpp>

#include <source_location>
#include <span>
#include <stdexcept>
#include <string>

namespace gpu {

/// A check fails by throwing.
struct check {
  const char* name;
  void (*run)();
};

/// Thrown by a check for which this machine lacks something.
struct skipped {
  std::string reason;
};

/// Throws unless the condition holds.
inline void require(bool condition, const std::string& what,
                    const std::source_location& where = std::source_location::current()) {
  if (!condition) throw std::runtime_error(what + " (" + where.file_name() + ":" + std::to_string(where.line()) + ")");
}

/// Runs a check, and fails too where giving something back failed.
inline void run(const check& each) {
  each.run();
  parallax::cuda::kept_failure::check_kept();
}

std::span<const check> memory_checks();
std::span<const check> kernel_checks();
std::span<const check> random_checks();
std::span<const check> product_checks();
std::span<const check> epilogue_checks();
std::span<const check> collective_checks();
std::span<const check> graph_checks();

// programs on CUDA devices against the host backend
std::span<const check> elementwise_programs();
std::span<const check> reduction_programs();
std::span<const check> loop_programs();
std::span<const check> product_programs();
std::span<const check> collective_programs();
std::span<const check> training_programs();

} // namespace gpu
