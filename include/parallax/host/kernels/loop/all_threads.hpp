// Kernels whose work is divided among the threads of this process.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/scratch_array.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/parallel_for.hpp>
#include <parallax/host/names.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// See `calling_thread`.
struct all_threads {
  static constexpr bool is_alone = false;

  static void parallel_for(std::int64_t count, std::int64_t grain,
                           function_ref<void(std::int64_t, std::int64_t)> body) {
    host::parallel_for(count, grain, body);
  }

  template <class T, std::size_t> class scratch {
   public:
    explicit scratch(std::int64_t count) : memory(buffer::allocate(static_cast<std::size_t>(count) * sizeof(T))) {}
    T* data() const { return reinterpret_cast<T*>(memory.data()); }

   private:
    buffer memory;
  };

  template <class T> class row_memory {
   public:
    row_memory(const kernel_arguments&, std::size_t count) : memory(count) {}
    T* data() const { return const_cast<T*>(memory.data()); }

   private:
    scratch_array<T, 1024> memory;
  };
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
