// The name of code that depends on the vector registers that a file is compiled for.
#pragma once

#include <parallax/core/version.hpp>

// Files that are compiled for different registers, or by different compilers, can be linked. Code that has packs in it,
// tests the compiler's macros, or calls such code is in `inline namespace PARALLAX_REGISTERS`, so that each file has
// its own: of equal names the linker keeps one, and would mix packs of different sizes. The name says all that the code
// tests, and whether products and sums are fused.

#if defined(__AVX512F__)
#define PARALLAX_REGISTERS_WIDTH avx512
#elif defined(__AVX2__)
#define PARALLAX_REGISTERS_WIDTH avx2
#elif defined(__AVX__)
#define PARALLAX_REGISTERS_WIDTH avx
#elif defined(__SSE2__)
#define PARALLAX_REGISTERS_WIDTH sse2
#else
#define PARALLAX_REGISTERS_WIDTH bytes16
#endif

#ifdef __FMA__
#define PARALLAX_REGISTERS_FMA _fma
#else
#define PARALLAX_REGISTERS_FMA
#endif

#ifdef __F16C__
#define PARALLAX_REGISTERS_F16C _f16c
#else
#define PARALLAX_REGISTERS_F16C
#endif

#if defined(__NVCC__) && __CUDACC_VER_MAJOR__ < 13
#define PARALLAX_REGISTERS_CUDA _nvcc12
#elif defined(__CUDACC__)
#define PARALLAX_REGISTERS_CUDA _cuda
#else
#define PARALLAX_REGISTERS_CUDA
#endif

#ifdef __clang__
#define PARALLAX_REGISTERS_COMPILER _clang
#else
#define PARALLAX_REGISTERS_COMPILER
#endif

#define PARALLAX_JOIN_NAME(width, fma, f16c, cuda, compiler) width##fma##f16c##cuda##compiler
#define PARALLAX_JOIN_NAMES(width, fma, f16c, cuda, compiler) PARALLAX_JOIN_NAME(width, fma, f16c, cuda, compiler)
#define PARALLAX_REGISTERS                                                                                             \
  PARALLAX_JOIN_NAMES(PARALLAX_REGISTERS_WIDTH, PARALLAX_REGISTERS_FMA, PARALLAX_REGISTERS_F16C,                       \
                      PARALLAX_REGISTERS_CUDA, PARALLAX_REGISTERS_COMPILER)
// How it is opened: tools overlook functions in a namespace whose name says `inline`.
#define PARALLAX_INLINE_REGISTERS inline PARALLAX_REGISTERS

#define PARALLAX_TEXT_OF(name) #name
#define PARALLAX_TEXT(name) PARALLAX_TEXT_OF(name)

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {
/// The name of the registers as text.
inline constexpr char registers_name[] = PARALLAX_TEXT(PARALLAX_REGISTERS);
} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
