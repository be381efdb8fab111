// The results of the CUDA runtime's calls, as statuses.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/status.hpp>

#include <cuda_runtime.h>

#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail {

/// The status of `call`, which returned `code`. The runtime's own record of the error is cleared, so that no later
/// call, of another library perhaps, is blamed for it; errors that end the context come back by themselves.
inline status runtime_status(const char* call, cudaError_t code) {
  if (code == cudaSuccess) [[likely]]
    return {};
  std::ignore = cudaGetLastError();
  const status::kind is = code == cudaErrorNotReady                ? status::kind::not_ready
                          : code == cudaErrorMemoryAllocation      ? status::kind::out_of_memory
                          : code == cudaErrorPeerAccessUnsupported ? status::kind::unsupported
                                                                   : status::kind::failure;
  return {is, static_cast<int>(code), "CUDA runtime", call, cudaGetErrorString(code)};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail
