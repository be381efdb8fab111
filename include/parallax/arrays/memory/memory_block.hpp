// What is known of memory that buffers share.
#pragma once

#include <parallax/arrays/memory/device_memory.hpp>
#include <parallax/arrays/memory/system_memory.hpp>
#include <parallax/core/version.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Lies directly in front of the bytes it describes, and keeps them aligned as itself. Where a device or somebody else
/// has them, what owns them lies behind this instead, or nothing.
struct alignas(64) memory_block {
  std::atomic<std::uint32_t> owners{1};
  bool is_borrowed = false;     ///< others read or change the bytes, too
  bool may_change = false;      ///< somebody was given a pointer to change the bytes with, and may have it still
  bool was_sent = false;        ///< to a device before
  std::uint8_t shift = 0;       ///< how far behind this a large array begins: an `array_shift`
  std::size_t bytes = 0;        ///< asked for
  std::size_t capacity = 0;     ///< of the whole block, with this header
  std::byte* first = nullptr;   ///< of the bytes on the host
  memory_block* next = nullptr; ///< in a list of free blocks or of copies
  std::unique_ptr<device_memory> on_device;
  std::atomic<memory_block*> copies{nullptr};     ///< the host's of a device's bytes; devices' of the host's, a list
  void (*destroy_owner)(memory_block*) = nullptr; ///< of others' bytes

  std::byte* here() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(memory_block) == 64 && alignof(memory_block) <= system_memory::least_alignment);

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
