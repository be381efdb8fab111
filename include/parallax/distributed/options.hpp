// The options by which a process becomes one of several.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/processes/world.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::distributed {

/// The launcher that starts the processes and gives each its number.
enum class launcher {
  any,        ///< any launcher that the environment shows
  none,       ///< this process is alone
  mpi,        ///< mpirun or mpiexec of Open MPI, PRRTE or MPICH
  slurm,      ///< srun
  environment ///< PARALLAX_PROCESS_INDEX and related variables, or torchrun's
};

/// The options of `initialize`. The environment gives those that are left out.
struct options {
  std::string coordinator{}; ///< "host:port" of process 0
  int process_index = -1, process_count = -1, local_process_index = -1;
  launcher how = launcher::any;
  /// The number of the host's virtual devices in this process. If it is left out, PARALLAX_HOST_DEVICES gives it;
  /// without that too, it is 1 in a process with a lent communicator, and else the number of processors.
  int host_devices = 0;
  std::chrono::seconds startup_limit{300}; ///< how long to wait for the others at the start
  /// How long an exchange waits for other processes; `PARALLAX_COLLECTIVE_TIMEOUT` seconds, 120 by default.
  std::optional<std::chrono::nanoseconds> timeout{};
  at_deadline then = at_deadline::abort; ///< the action at that deadline
};

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed
