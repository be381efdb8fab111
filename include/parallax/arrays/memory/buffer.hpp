// Shared ownership of raw memory: the host's, or a device's, which is copied to the host when the host reads it.
#pragma once

#include <parallax/arrays/memory/block_cache.hpp>
#include <parallax/arrays/memory/constant_block.hpp>
#include <parallax/arrays/memory/device_memory.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/arrays/memory/transfers.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {
/// A shared handle to memory, which starts at a multiple of 64 bytes unless others own it. Copies share the memory,
/// which is given back with the last of them. Several threads may copy and drop handles; access to the bytes is not
/// guarded.
class buffer {
 public:
  /// A handle to no memory.
  constexpr buffer() noexcept {
    if (__builtin_is_constant_evaluated()) constant = nullptr;
    else owned = nullptr;
  }

  /// `bytes` uninitialised bytes; a null handle for 0. Throws `out_of_memory`.
  static buffer allocate(std::size_t bytes) {
    buffer result;
    if (bytes > 0) result.owned = runtime::new_block(bytes, bytes);
    return result;
  }

  /// A handle to `bytes` bytes of a device. If they are `borrowed`, others read or change them too.
  static buffer adopt(std::unique_ptr<device_memory> memory, std::size_t bytes, bool borrowed = false) {
    buffer result;
    result.owned = runtime::new_block(bytes, 1); // the smallest block
    result.owned->on_device = std::move(memory);
    result.owned->is_borrowed = borrowed;
    return result;
  }

  /// A handle to `bytes` bytes that others own, which have to stay as long as a handle to them does. `owner`, if given,
  /// is destroyed with the last handle, or at once if there are no bytes. Throws `out_of_memory`.
  static buffer borrow(const std::byte* first, std::size_t bytes) { return of_others(first, bytes, 0, true); }
  template <std::move_constructible Owner>
  static buffer borrow(const std::byte* first, std::size_t bytes, Owner owner) {
    return of_others(first, bytes, sizeof(Owner), true).owned_by(std::move(owner));
  }
  /// Like `borrow`, for bytes that nobody else uses: the owner of the only handle may change them.
  template <std::move_constructible Owner> static buffer take_over(std::byte* first, std::size_t bytes, Owner owner) {
    return of_others(first, bytes, sizeof(Owner), false).owned_by(std::move(owner));
  }

  constexpr buffer(const buffer& other) noexcept : buffer() {
    if (__builtin_is_constant_evaluated()) {
      if (other.constant != nullptr) constant = other.constant->copy(*other.constant);
    } else {
      owned = other.owned;
      if (owned != nullptr) owned->owners.fetch_add(1, std::memory_order_relaxed);
    }
  }
  constexpr buffer(buffer&& other) noexcept : buffer() { swap(other); }
  constexpr buffer& operator=(buffer other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~buffer() {
    if (__builtin_is_constant_evaluated()) {
      if (constant != nullptr) constant->destroy(constant);
      return;
    }
    // The last owner sees that it is alone, and saves an atomic change.
    if (owned != nullptr && (owned->owners.load(std::memory_order_acquire) == 1 ||
                             owned->owners.fetch_sub(1, std::memory_order_acq_rel) == 1))
      runtime::block_cache::put(owned);
  }

  /// While a function is traced: gives a null handle this block.
  constexpr void hold(runtime::constant_block* block) { constant = block; }
  /// The block given by `hold`; null if there is none.
  constexpr const runtime::constant_block* held() const noexcept { return constant; }

  /// The first byte on the host; null if there are none. The first call copies a device's bytes to the host, which is
  /// counted as a transfer; these bytes must not be changed. Throws the backend's errors.
  std::byte* data() const {
    if (owned == nullptr) return nullptr;
    return owned->on_device == nullptr ? owned->first : copy_on_host()->first;
  }

  /// The device's memory, if the bytes lie there; otherwise null.
  device_memory* on_device() const noexcept { return owned == nullptr ? nullptr : owned->on_device.get(); }

  /// Whether this is a handle to no memory.
  constexpr bool is_null() const noexcept {
    return __builtin_is_constant_evaluated() ? constant == nullptr : owned == nullptr;
  }

  /// The number of bytes asked for.
  std::size_t bytes() const noexcept { return owned == nullptr ? 0 : owned->bytes; }

  /// Whether the memory is the host's, and no other handle or owner shares it, so that this handle's owner may change
  /// it.
  bool unique() const noexcept { return owned == nullptr || (owned->on_device == nullptr && is_only_handle()); }
  /// Whether this is the only handle to memory, on the host or on a device, that is not borrowed.
  bool is_only_handle() const noexcept {
    return owned != nullptr && !owned->is_borrowed && owned->owners.load(std::memory_order_acquire) == 1;
  }
  /// To be called before the bytes are changed: gives up their copies, a device's on the host and the host's on
  /// devices.
  void forget_copies() const {
    if (owned != nullptr) runtime::block_cache::forget_copies(owned);
  }
  /// To be called before a pointer that can change the bytes is given out, since nobody knows how long it is used: no
  /// copies are kept from then on.
  void may_change_from_now_on() const {
    if (owned == nullptr || owned->may_change) return;
    owned->may_change = true;
    forget_copies();
  }
  /// Whether all changes of the host's bytes are noticed, so that a device may keep a copy.
  bool may_keep_copies() const noexcept {
    return owned != nullptr && owned->on_device == nullptr && !owned->is_borrowed && !owned->may_change;
  }
  /// Notes that the bytes were sent to a device. Returns whether they had been sent before.
  bool note_sent() const noexcept { return std::exchange(owned->was_sent, true); }
  /// The copy of a part of the host's bytes that a device keeps; null if it keeps none.
  buffer copy_on(int device, const host_part& part) const {
    buffer copy;
    if (may_keep_copies()) copy.owned = runtime::kept_copies::instance().find(owned, device, part);
    return copy;
  }
  /// Keeps such a copy, which no other handle has, until the bytes are changed or the last handle to them is gone; but
  /// not if the device would have more than `most` bytes of copies then.
  void keep_copy(const host_part& part, const buffer& copy, std::size_t most) const {
    copy.owned->on_device->copied = part;
    runtime::kept_copies::instance().keep(owned, copy.owned, most);
  }
  /// Whether the memory is borrowed: its owner may free it before the last handle is gone.
  bool is_borrowed() const noexcept { return owned != nullptr && owned->is_borrowed; }

 private:
  static buffer of_others(const std::byte* first, std::size_t bytes, std::size_t owner_bytes, bool borrowed) {
    buffer result;
    if (bytes == 0) return result;
    result.owned = runtime::new_block(bytes, std::max<std::size_t>(owner_bytes, 1));
    result.owned->first = const_cast<std::byte*>(first);
    result.owned->is_borrowed = borrowed;
    return result;
  }
  template <class Owner> buffer owned_by(Owner owner) && {
    static_assert(alignof(Owner) <= alignof(runtime::memory_block), "parallax: an owner's alignment is 64 at most");
    if (owned != nullptr) {
      ::new (static_cast<void*>(owned->here())) Owner(std::move(owner));
      owned->destroy_owner = [](runtime::memory_block* block) {
        std::destroy_at(std::launder(reinterpret_cast<Owner*>(block->here())));
      };
    }
    return std::move(*this);
  }

  runtime::memory_block* copy_on_host() const {
    if (auto* copy = owned->copies.load(std::memory_order_acquire)) return copy;
    // no lock, so that no thread waits for another's result: threads that come first together each make a copy
    buffer copy = allocate(owned->bytes);
    owned->on_device->copy_to_host(copy.data(), owned->bytes);
    runtime::count_device_to_host(owned->bytes);
    runtime::memory_block* earlier = nullptr;
    if (!owned->copies.compare_exchange_strong(earlier, copy.owned, std::memory_order_acq_rel)) return earlier;
    return std::exchange(copy.owned, nullptr);
  }

  constexpr void swap(buffer& other) noexcept {
    if (__builtin_is_constant_evaluated()) std::swap(constant, other.constant);
    else std::swap(owned, other.owned);
  }

  union {
    runtime::memory_block* owned;
    runtime::constant_block* constant; ///< while functions are traced
  };
};

} // namespace detail

/// Gives the memory that freed buffers left in the cache back to the system. Other threads keep up to 1 MiB of their
/// own until they next free a buffer.
inline void release_cached_memory() { runtime::block_cache::instance().clear(); }

} // namespace parallax::PARALLAX_INLINE_VERSION
