// How a process becomes one of several.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/processes/world.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::distributed {

/// What starts the processes, and says to each which one it is.
enum class launcher {
  any,        ///< whichever the environment tells of
  none,       ///< this process is alone
  mpi,        ///< mpirun or mpiexec of Open MPI, PRRTE or MPICH
  slurm,      ///< srun
  environment ///< PARALLAX_PROCESS_INDEX and its kin, or those of torchrun
};

/// What `initialize` is told; what is left out, the environment says.
struct options {
  std::string coordinator{}; ///< "host:port" of process 0
  int process_index = -1, process_count = -1, local_process_index = -1;
  launcher how = launcher::any;
  /// How many virtual devices the host has in this process. Left out, PARALLAX_HOST_DEVICES says it; where that is not
  /// set either, it is 1 in a process whose communicator was lent, and else the number of processors.
  int host_devices = 0;
  std::chrono::seconds startup_limit{300}; ///< how long to wait for the others at the start
  /// How long an exchange waits for other processes; `PARALLAX_COLLECTIVE_TIMEOUT` seconds, 120 by default.
  std::optional<std::chrono::nanoseconds> timeout{};
  at_deadline then = at_deadline::abort; ///< what happens at that deadline
};

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed
