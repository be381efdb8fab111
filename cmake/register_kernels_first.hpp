// Included before the library parallax::cuda_runtime is compiled: nvcc's function that registers the library's kernels runs
// before objects are initialised, whose constructors may call programs. By itself it would run in the order of linking,
// and libraries are linked last. 101 is the priority of what enters programs.
#define __constructor__ constructor(102)
