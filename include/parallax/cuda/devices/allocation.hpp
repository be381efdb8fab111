// Device memory as buffers know it.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/backend.hpp>
#include <parallax/cuda/names.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Rounds a number of bytes up, so that memory behind it is aligned like memory that is allocated by itself.
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Memory that was allocated from a logical device at once. It is released in the order of the device's stream, without
/// waiting for any other thread.
template <device_api Api> class memory_block {
 public:
  memory_block(device<Api>& of, std::size_t bytes)
      : home(of), start(static_cast<std::byte*>(of.take(bytes, [&] { backend<Api>::instance().wait_for_gpu(of); }))) {}
  memory_block(const memory_block&) = delete;
  memory_block& operator=(const memory_block&) = delete;
  ~memory_block() { backend<Api>::mutex().release(home, start); }

  device<Api>& home;
  std::byte* const start;
};

/// Unlocks a mutex that is held, for as long as this lives.
template <class Mutex> class inverse_lock {
 public:
  explicit inverse_lock(Mutex& held) : mutex(held) { mutex.unlock(); }
  inverse_lock(const inverse_lock&) = delete;
  inverse_lock& operator=(const inverse_lock&) = delete;
  ~inverse_lock() { mutex.lock(); }

 private:
  Mutex& mutex;
};

/// Memory of a logical device: part of a block, which lives as long as any of its parts; or others' memory on the
/// device.
template <device_api Api> class allocation final : public device_memory {
 public:
  using stream = typename Api::stream;

  allocation(std::shared_ptr<memory_block<Api>> in, std::size_t offset)
      : device_memory(in->home.number), home(in->home), start(in->start + offset), block(std::move(in)) {}
  /// Others' memory: this device waits for the owner's stream before it uses the memory, and the owner's stream waits
  /// for this device once the object is destroyed.
  allocation(device<Api>& of, void* first, stream used_by)
      : device_memory(of.number), home(of), start(static_cast<std::byte*>(first)) {
    check(home.wait_for_stream(used_by), home.number);
    others = used_by;
  }
  ~allocation() override {
    if (!others) return;
    std::lock_guard lock(backend<Api>::mutex());
    kept_failure::keep(home.let_wait(*others));
  }

  void copy_to_host(std::byte* to, std::size_t bytes) override {
    auto& mutex = backend<Api>::mutex();
    std::lock_guard lock(mutex);
    home.activate();
    backend<Api>& owner = backend<Api>::instance();
    const auto ended = owner.ended_collectives();
    home.host_copies.to_host(
        to, address(), bytes, owner.threads,
        [&](const auto& wait) {
          {
            const inverse_lock unlocked(mutex);
            wait();
          }
          home.activate(); // what others released meanwhile may have been given back on other devices
        },
        owner.waiting_beside_others());
    owner.check_collectives(ended);
  }

  std::byte* address() const { return start; }

  device<Api>& home;

 private:
  std::byte* start;
  std::shared_ptr<memory_block<Api>> block; ///< null for others' memory
  std::optional<stream> others;             ///< the owner's stream, for others' memory
};

/// `bytes` uninitialised bytes on a device; no memory for 0. Throws `out_of_memory`.
template <device_api Api> buffer allocate(device<Api>& on, std::size_t bytes) {
  if (bytes == 0) return {};
  return buffer::adopt(std::make_unique<allocation<Api>>(std::make_shared<memory_block<Api>>(on, bytes), 0), bytes);
}

/// Memory for the results of one call on a device: small results, of at most `most_together` bytes, share one block. A
/// larger result has memory of its own, so that a small one that is kept does not keep it alive.
template <device_api Api> class result_block {
 public:
  static constexpr std::size_t most_together = std::size_t{64} << 10;

  explicit result_block(device<Api>& of) : on(of) {}
  /// Announces a result of `bytes` bytes.
  void expect(std::size_t bytes) {
    if (is_small(bytes)) together += aligned(bytes);
  }
  /// The memory of an announced result. Throws `out_of_memory`.
  buffer take(std::size_t bytes) {
    if (!is_small(bytes)) return allocate<Api>(on, bytes);
    if (!block) block = std::make_shared<memory_block<Api>>(on, together);
    return buffer::adopt(std::make_unique<allocation<Api>>(block, std::exchange(taken, taken + aligned(bytes))), bytes);
  }

 private:
  device<Api>& on;
  std::shared_ptr<memory_block<Api>> block;
  std::size_t together = 0, taken = 0;

  static bool is_small(std::size_t bytes) { return bytes > 0 && bytes <= most_together; }
};

/// The allocation of a buffer on a device of this backend; null for any other buffer.
template <device_api Api> allocation<Api>* allocation_of(const buffer& b) {
  return dynamic_cast<allocation<Api>*>(b.on_device());
}

/// The first byte of a buffer that `allocate` gave.
template <device_api Api> std::byte* address_of(const buffer& b) {
  allocation<Api>* memory = allocation_of<Api>(b);
  return memory == nullptr ? nullptr : memory->address();
}

/// Copies host memory to a new buffer on a device, and counts it.
template <device_api Api> buffer upload(device<Api>& to, const std::byte* from, std::size_t bytes) {
  buffer result = allocate<Api>(to, bytes);
  to.activate();
  backend<Api>& owner = backend<Api>::instance();
  to.host_copies.to_device(address_of<Api>(result), from, bytes, owner.threads, owner.waiting());
  count_host_to_device(bytes);
  return result;
}

/// The copy on a device of a part of the host's bytes in `memory`: one that exists, or a new one. A new copy is kept
/// unless somebody can change the host's bytes unseen.
template <device_api Api> buffer uploaded(device<Api>& to, const buffer& memory, const host_part& part) {
  buffer kept = memory.copy_on(to.number, part);
  if (allocation_of<Api>(kept) != nullptr) return kept;
  buffer rows;
  if (part.rows > 1) {
    rows = buffer::allocate(part.bytes());
    part.copy_to(rows.data());
  }
  buffer copy = upload<Api>(to, part.rows > 1 ? rows.data() : part.first, part.bytes());
  if (part.bytes() > 0 && kept.is_null() && memory.may_keep_copies()) {
    memory.note_sent();
    memory.keep_copy(part, copy, to.most_kept());
  }
  return copy;
}

/// A new copy on device `number`, for callers outside of the backend. Throws `error` if there is no such device.
template <device_api Api> buffer placed(int number, const std::byte* from, std::size_t bytes) {
  std::lock_guard lock(backend<Api>::mutex());
  backend<Api>& owner = backend<Api>::instance();
  return upload<Api>(owner.device_at(number), from, bytes);
}

/// Copies between devices, after earlier work of the source and before later work, and counts the bytes.
template <device_api Api>
void copy_across(device<Api>& to, std::byte* target, device<Api>& from, const std::byte* source, std::size_t bytes) {
  if (bytes == 0) return;
  to.wait_for(from);
  to.activate();
  check(Api::copy_between(target, to.physical, source, from.physical, bytes, to.stream()), to.number);
  try {
    from.wait_for(to);
  } catch (...) {
    backend<Api>::instance().settle(); // the source must not be released before the copy
    throw;
  }
  if (&to != &from) count_device_to_device(bytes);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
