// Copies of the host's memory that stay on devices, so that an array is sent there once.
#pragma once

#include <parallax/arrays/memory/at_fork.hpp>
#include <parallax/arrays/memory/memory_block.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Lists of copies on devices: each block of the host's memory has one, of copies of all its bytes or of a part of
/// them. The list is given up with the last handle to the block, and before a change of the bytes.
class kept_copies {
 public:
  /// Never destroyed, as arrays with static storage may outlive any other object.
  static kept_copies& instance() {
    static kept_copies& all = *[] {
      auto* const made = new kept_copies;
      // A child of fork would find a lock that another thread held locked for ever. The devices belong to its parent.
      at_fork([] { instance().access.lock(); }, [] { instance().access.unlock(); },
              [] {
                instance().abandon();
                instance().access.unlock();
              });
      return made;
    }();
    return all;
  }

  /// Keeps one more handle to a copy, unless its device would have more than `most` bytes of copies then.
  void keep(memory_block* of, memory_block* copy, std::size_t most) {
    std::lock_guard lock(access);
    std::size_t& there = bytes_on(copy);
    if (copy->bytes > most || there > most - copy->bytes) return;
    memory_block* const others = of->copies.load(std::memory_order_relaxed);
    if (others == nullptr) blocks.push_back(of);
    there += copy->bytes;
    copy->owners.fetch_add(1, std::memory_order_relaxed);
    copy->next = others;
    of->copies.store(copy, std::memory_order_release);
  }
  /// One more handle to a device's copy of a part; null if the device has none.
  memory_block* find(const memory_block* of, int device, const host_part& part) {
    if (of->copies.load(std::memory_order_acquire) == nullptr) return nullptr;
    std::lock_guard lock(access);
    for (memory_block* copy = of->copies.load(std::memory_order_relaxed); copy != nullptr; copy = copy->next)
      if (copy->on_device->copied == part && copy->on_device->device_number == device) {
        copy->owners.fetch_add(1, std::memory_order_relaxed);
        return copy;
      }
    return nullptr;
  }
  /// Takes a block's list away from it.
  memory_block* taken_from(memory_block* of) {
    std::lock_guard lock(access);
    // most often the last block goes first
    const auto found = std::find(blocks.rbegin(), blocks.rend(), of);
    if (found != blocks.rend()) {
      *found = blocks.back();
      blocks.pop_back();
    }
    return list_of(of);
  }
  /// The lists of all blocks, joined.
  memory_block* taken_from_all() {
    std::lock_guard lock(access);
    memory_block* all = nullptr;
    for (memory_block* const of : blocks) {
      memory_block* copy = list_of(of);
      while (copy != nullptr) {
        memory_block* const following = std::exchange(copy->next, all);
        all = std::exchange(copy, following);
      }
    }
    blocks.clear();
    return all;
  }

 private:
  memory_block* list_of(memory_block* of) {
    memory_block* const list = of->copies.exchange(nullptr, std::memory_order_acq_rel);
    for (memory_block* copy = list; copy != nullptr; copy = copy->next) bytes_on(copy) -= copy->bytes;
    return list;
  }
  std::size_t& bytes_on(const memory_block* copy) {
    const auto number = static_cast<std::size_t>(copy->on_device->device_number);
    if (number >= totals.size()) totals.resize(number + 1);
    return totals[number];
  }
  void abandon() noexcept {
    for (memory_block* const of : blocks) of->copies.store(nullptr, std::memory_order_relaxed);
    blocks.clear();
    totals.clear();
  }

  std::mutex access;
  std::vector<memory_block*> blocks; ///< the blocks that have copies
  std::vector<std::size_t> totals;   ///< bytes of copies by device
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
