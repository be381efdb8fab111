// Finds out from the environment which process this is, and how many there are.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/distributed/options.hpp>

#include <charconv>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::distributed {

/// A process' place among others, as far as it is known.
struct launch {
  launcher by = launcher::none;
  int index = 0, count = 1;
  int local_index = -1;      ///< among the processes on its host; -1 if it is not known
  std::string coordinator{}; ///< empty if none is named
  std::string reason{};      ///< the source of these facts, for errors
};

/// The value of an environment variable; empty if it is not set.
using environment_reader = std::function<std::string(const char*)>;

inline std::string process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

namespace detail {

class launch_finder {
 public:
  launch_finder(const options& given, const environment_reader& reader) : wanted(given), variable(reader) {}

  /// The place by the first source that gives one: arguments, our own variables, torchrun's, Open MPI's and PRRTE's,
  /// MPICH's, a step of Slurm.
  launch find() const {
    if (wanted.how == launcher::none) return {.reason = "the options say so"};
    if (wanted.process_count >= 0 || wanted.process_index >= 0) return of_arguments();
    if (may_be(launcher::environment))
      if (const std::optional<launch> found = of_environment()) return *found;
    if (may_be(launcher::mpi))
      if (const std::optional<launch> found = of_mpi()) return *found;
    if (may_be(launcher::slurm))
      if (const std::optional<launch> found = of_slurm()) return *found;
    if (wanted.how != launcher::any)
      throw error("distributed::initialize: the environment has nothing of the launcher that the options name; start "
                  "the processes with it, or leave `how` out");
    return {.reason = "the environment tells of no other process"};
  }

 private:
  const options& wanted;
  const environment_reader& variable;

  bool is_set(const char* name) const { return !variable(name).empty(); }
  bool may_be(launcher one) const { return wanted.how == launcher::any || wanted.how == one; }

  static std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size() || value < 0) return {};
    return value;
  }
  launch of_arguments() const {
    launch found{launcher::environment,      wanted.process_index, wanted.process_count,
                 wanted.local_process_index, wanted.coordinator,   "the options"};
    return checked(found, "options.process_index", "options.process_count");
  }
  /// By our own variables, or torchrun's.
  std::optional<launch> of_environment() const {
    if (is_set("PARALLAX_PROCESS_COUNT") || is_set("PARALLAX_PROCESS_INDEX"))
      return of_variables(launcher::environment, "PARALLAX_PROCESS_INDEX", "PARALLAX_PROCESS_COUNT",
                          "PARALLAX_LOCAL_PROCESS_INDEX", variable("PARALLAX_COORDINATOR"));
    // torchrun itself listens on the port that it names, so that ours is the next one
    if (is_set("MASTER_ADDR") && is_set("RANK") && is_set("WORLD_SIZE"))
      return of_variables(launcher::environment, "RANK", "WORLD_SIZE", "LOCAL_RANK",
                          variable("MASTER_ADDR") + ":" + std::to_string(read("MASTER_PORT") + 1));
    return std::nullopt;
  }
  /// By Open MPI's and PRRTE's variables, or MPICH's.
  std::optional<launch> of_mpi() const {
    if (is_set("OMPI_COMM_WORLD_SIZE"))
      return of_variables(launcher::mpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                          variable("PARALLAX_COORDINATOR"));
    if (is_set("PMI_SIZE"))
      return of_variables(launcher::mpi, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", variable("PARALLAX_COORDINATOR"));
    return std::nullopt;
  }
  /// By the variables of a step. SLURM_JOB_ID is also set in the shell of an allocation, where only one process has
  /// been started.
  std::optional<launch> of_slurm() const {
    if (!is_set("SLURM_STEP_ID") || !is_set("SLURM_PROCID")) return std::nullopt;
    return of_variables(launcher::slurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
                        variable("PARALLAX_COORDINATOR"));
  }
  launch of_variables(launcher by, const char* index, const char* count, const char* local,
                      const std::string& coordinator) const {
    launch found{by,
                 read(index),
                 read(count),
                 wanted.local_process_index,
                 wanted.coordinator.empty() ? coordinator : wanted.coordinator,
                 std::string(index) + "=" + variable(index) + " and " + count + "=" + variable(count)};
    if (found.local_index < 0 && is_set(local)) found.local_index = read(local);
    return checked(found, index, count);
  }
  int read(const char* name) const {
    const std::string text = variable(name);
    if (const std::optional<int> value = number(text)) return *value;
    throw error(std::string("distributed::initialize: ") + name + " must be a number from 0 on, but it is \"" + text +
                "\"");
  }
  static launch checked(const launch& found, const char* index, const char* count) {
    if (found.count < 1 || found.index < 0 || found.index >= found.count)
      throw error(std::string("distributed::initialize: ") + index + " is " + std::to_string(found.index) + " and " +
                  count + " is " + std::to_string(found.count) + "; the index is from 0 to the count less 1");
    return found;
  }
};

} // namespace detail

/// This process' place, by arguments and by the variables that launchers set. Throws `error` if these contradict each
/// other.
inline launch find_launch(const options& given, const environment_reader& environment = process_environment) {
  return detail::launch_finder(given, environment).find();
}

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed
