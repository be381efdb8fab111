// Matrix products, wherever they are compiled.
#pragma once

#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/kernels/products/product_arguments.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#if !PARALLAX_LINKED_RUNTIME
#include <parallax/host/kernels/products/product.hpp>
#endif

#if PARALLAX_LINKED_RUNTIME
namespace parallax::PARALLAX_INLINE_VERSION::host::linked {
/// The library's function, compiled for the library's own registers.
void run_product(const product_arguments& p);
} // namespace parallax::PARALLAX_INLINE_VERSION::host::linked
#endif

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Runs a product.
inline void run_product(const product_arguments& p) {
#if PARALLAX_LINKED_RUNTIME
  linked::run_product(p);
#else
  make_product(p);
#endif
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
