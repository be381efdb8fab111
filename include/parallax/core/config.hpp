// The macros that annotate functions for the compilers.
#pragma once

// Under these options the compiler takes comparisons with NaN for false or true as it likes and x + y - y for x, so
// maxima, sorts, roundings and sums silently have other results.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error parallax: -ffast-math, and what it consists of, is not supported, as NaN, infinities and sums would silently be \
others: compile the files that include Parallax without it (-Ofast has it too), or with -fno-fast-math behind it
#endif

/// Marks a function that runs on the host and, if nvcc compiles it, on a CUDA device too.
#ifdef __CUDACC__
#define PARALLAX_HD __host__ __device__
#else
#define PARALLAX_HD
#endif

/// Marks a function that runs on a CUDA device if nvcc compiles it, and on the simulator's device otherwise.
#ifdef __CUDACC__
#define PARALLAX_DEVICE __device__
#else
#define PARALLAX_DEVICE
#endif

/// Marks a function that is part of its caller's inner loop: a call would move its registers through memory. With
/// PARALLAX_CALL_INNER_FUNCTIONS it is called nevertheless: builds whose speed does not matter then take a third less
/// time to compile.
#ifdef PARALLAX_CALL_INNER_FUNCTIONS
#define PARALLAX_INLINE inline
#define PARALLAX_INLINE_LAMBDA
#else
#define PARALLAX_INLINE inline __attribute__((always_inline))
#define PARALLAX_INLINE_LAMBDA __attribute__((always_inline)) ///< of a lambda; it stands behind its parameters
#endif

/// Marks a function that is no part of its caller, and whose single numbers g++ leaves in registers of their own.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define PARALLAX_WITHOUT_LANES __attribute__((noinline, optimize("no-tree-slp-vectorize")))
#else
#define PARALLAX_WITHOUT_LANES __attribute__((noinline))
#endif

/// Lets the host-and-device template that follows call functions of its argument that exist on the host only.
#ifdef __CUDACC__
#define PARALLAX_CALLS_HOST _Pragma("nv_exec_check_disable")
#else
#define PARALLAX_CALLS_HOST
#endif

/// Asks for `count` copies of the body of the loop that follows. nvcc's device compiler unrolls unasked.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define PARALLAX_PRAGMA(text) _Pragma(#text)
#define PARALLAX_UNROLL(count) PARALLAX_PRAGMA(GCC unroll count)
#else
#define PARALLAX_UNROLL(count)
#endif

/// Asks nvcc's device compiler to unroll the loop that follows, in device code, whose arrays then are registers; or to
/// make `count` copies of its body.
#ifdef __CUDACC__
#define PARALLAX_DEVICE_PRAGMA(text) _Pragma(#text)
#define PARALLAX_DEVICE_UNROLL PARALLAX_DEVICE_PRAGMA(unroll)
#define PARALLAX_DEVICE_UNROLL_BY(count) PARALLAX_DEVICE_PRAGMA(unroll count)
#else
#define PARALLAX_DEVICE_UNROLL
#define PARALLAX_DEVICE_UNROLL_BY(count)
#endif
