// NCCL between two processes that share a GPU.
#pragma once

namespace gpu {

/// Runs tens of collectives between two processes of its own, and returns whether all results are right. Takes seconds,
/// since the processes take turns on the GPU; after two minutes it ends them. To be called before any call of CUDA,
/// which does not outlive a fork.
bool two_processes_agree();

} // namespace gpu
