// The file with CUDA as nvcc compiles it.
#include "with_cuda.cpp"
