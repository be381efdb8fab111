// NCCL between two processes that share a GPU.
#pragma once

namespace gpu {

/// Runs tens of collectives between two processes of its own, and returns whether all results are right. Takes seconds,
/// since the processes take turns on the GPU; after two minutes it ends them. To be called before any call of CUDA,
/// which does not outlive a fork.
bool two_processes_agree();

/// Lets a process begin collectives on a clique and on a part of it that another process never comes to, and returns
/// whether it can end both together, within seconds, and use NCCL afterwards. To be called before any call of CUDA.
bool abandoned_collectives_end();

} // namespace gpu
