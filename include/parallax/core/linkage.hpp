// How code that no program changes is compiled: with each file, as is usual, or once, in the library parallax::runtime,
// which files are then linked with.
#pragma once

// 1 in all files of a process that are linked with the library, whose CMake target defines it so.
#ifndef PARALLAX_LINKED_RUNTIME
#define PARALLAX_LINKED_RUNTIME 0
#endif

// PARALLAX_RUNTIME_FUNCTION declares a function of the library. Files that are linked with the library have
// declarations only; the library's source, which sets PARALLAX_RUNTIME_SOURCE, has the definitions.
#if !PARALLAX_LINKED_RUNTIME
#define PARALLAX_RUNTIME_FUNCTION inline
#define PARALLAX_DEFINES_RUNTIME 1
#elif defined(PARALLAX_RUNTIME_SOURCE)
#define PARALLAX_RUNTIME_FUNCTION
#define PARALLAX_DEFINES_RUNTIME 1
#else
#define PARALLAX_RUNTIME_FUNCTION
#define PARALLAX_DEFINES_RUNTIME 0
#endif

// 1 in all .cu files of a process that are linked with the library parallax::cuda_runtime, whose CMake target defines
// it so: the library has the CUDA backend, and the kernels that belong to no program.
#ifndef PARALLAX_LINKED_CUDA
#define PARALLAX_LINKED_CUDA 0
#endif
