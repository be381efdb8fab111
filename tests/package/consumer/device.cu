// Uses each library that parallax::cuda links.
#include <parallax/cuda/nvidia/runtime_api.cuh>

#include <curand.h>

#include <cstdio>

void show_versions() {
  int nccl = 0, curand = 0;
  if (ncclGetVersion(&nccl) == ncclSuccess && curandGetVersion(&curand) == CURAND_STATUS_SUCCESS)
    std::printf("cuBLASLt %zu, NCCL %d, cuRAND %d\n", cublasLtGetVersion(), nccl, curand);
}
