// Who does the work of a kernel.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// The calling thread alone, which takes no memory but its stack's and its caller's: for programs that run without the
/// library's threads. Kernels are templates of this or of `all_threads`.
struct calling_thread {
  static constexpr bool is_alone = true;

  /// Calls `body(begin, end)` for ranges that cover 0 to `count`.
  template <class F> static void parallel_for(std::int64_t count, std::int64_t, const F& body) {
    if (count > 0) body(std::int64_t{0}, count);
  }

  /// Memory for some elements during one call; at most `Most` if one thread does the work.
  template <class T, std::size_t Most> class scratch {
   public:
    explicit scratch(std::int64_t) {}
    T* data() const { return const_cast<T*>(elements); }

   private:
    T elements[Most];
  };

  /// The memory for a row kernel's values of one row.
  template <class T> class row_memory {
   public:
    row_memory(const compiled::kernel_arguments& a, std::size_t) : elements(reinterpret_cast<T*>(a.row_memory)) {}
    T* data() const { return elements; }

   private:
    T* elements;
  };
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
