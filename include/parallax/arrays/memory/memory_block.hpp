// The header of memory that buffers share.
#pragma once

#include <parallax/arrays/memory/device_memory.hpp>
#include <parallax/arrays/memory/system_memory.hpp>
#include <parallax/core/version.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Lies directly in front of the bytes that it describes, and is aligned as they are. If the bytes belong to a device
/// or to others, their owner, if any, lies there in their place.
struct alignas(64) memory_block {
  std::atomic<std::uint32_t> owners{1};
  bool is_borrowed = false;     ///< others read or change the bytes, too
  bool may_change = false;      ///< a pointer that can change the bytes was given out, and may still be used
  bool was_sent = false;        ///< to a device
  std::uint8_t shift = 0;       ///< distance from this header to a large array: an `array_shift`
  std::size_t bytes = 0;        ///< asked for
  std::size_t capacity = 0;     ///< of the whole block, with this header
  std::byte* first = nullptr;   ///< of the bytes on the host
  memory_block* next = nullptr; ///< the next block in a list of free blocks or of copies
  std::unique_ptr<device_memory> on_device;
  std::atomic<memory_block*> copies{nullptr};     ///< of a device's bytes: the host's; of the host's: devices', a list
  void (*destroy_owner)(memory_block*) = nullptr; ///< of bytes that others own

  std::byte* here() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(memory_block) == 64 && alignof(memory_block) <= system_memory::least_alignment);

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
