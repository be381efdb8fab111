// The exceptions thrown if a program runs on several processes and one of them fails.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Another process failed, ended, or did other work than this one.
class process_error : public error {
 public:
  /// `process` is the number of the process that caused the error; -1 if it is not known.
  process_error(int process, const std::string& text) : error(text), blamed(process) {}

  /// The process that failed.
  int process() const noexcept { return blamed; }

 private:
  int blamed;
};

/// A process waited for others for longer than the deadline.
class process_timeout : public process_error {
 public:
  /// `process` waited for `seconds` in `collective`, the `sequence`-th exchange of a call or, between GPUs, of the
  /// session. `arrived` are the processes that had come to it, `missing` the others, as far as they answered.
  process_timeout(int process, const std::string& collective, std::uint64_t sequence, double seconds,
                  std::vector<int> arrived, std::vector<int> missing)
      : process_error(missing.empty() ? -1 : missing.front(),
                      "process " + std::to_string(process) + ": waited " + runtime::in_seconds(seconds) + " in " +
                          collective + " (exchange number " + std::to_string(sequence) +
                          " between processes); arrived: " + runtime::list_of(arrived) +
                          "; missing: " + runtime::list_of(missing)),
        stuck_collective(collective),
        sequence_number(sequence),
        arrived_processes(std::move(arrived)),
        missing_processes(std::move(missing)) {}

  /// The collective's name, such as "all_reduce".
  const std::string& collective() const noexcept { return stuck_collective; }
  /// How many exchanges this process had begun, this one included.
  std::uint64_t sequence() const noexcept { return sequence_number; }
  /// The processes that had come, and those that had not.
  const std::vector<int>& arrived() const noexcept { return arrived_processes; }
  const std::vector<int>& missing() const noexcept { return missing_processes; }

 private:
  std::string stuck_collective;
  std::uint64_t sequence_number;
  std::vector<int> arrived_processes, missing_processes;
};

} // namespace parallax::PARALLAX_INLINE_VERSION
