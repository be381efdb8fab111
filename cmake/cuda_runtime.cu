// The library parallax::cuda_runtime: the CUDA backend, which no program changes.
#include <parallax/cuda_runtime_source.cuh>
