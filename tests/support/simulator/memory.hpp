// The memory of the devices and pinned memory of the host: allocations with red zones, poison, and a history.
#pragma once

#include "support/simulator/byte_set.hpp"
#include "support/simulator/faults.hpp"
#include "support/simulator/regions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace simulator {

/// What an allocation belongs to where it belongs to no device.
inline constexpr int on_host = -1;

/// Memory that was allocated and its history.
class allocation {
 public:
  /// In stream order: asked for, allocated, released.
  enum class state : unsigned char { planned, live, released };

  /// `of` a device, or the host.
  allocation(std::uint64_t named, int of, std::size_t size)
      : allocation(named, of, size, block(new(std::align_val_t{alignment}) std::byte[size + 2 * zone])) {
    std::memset(block_.get(), guard, size + 2 * zone);
    poison();
  }
  /// Where another one was, which has been released.
  allocation(std::uint64_t named, allocation&& released)
      : allocation(named, released.device, released.bytes, std::move(released.block_)) {}

  std::byte* data() const { return block_.get() + zone; }

  /// Fills it with what is not a number in every floating type.
  void poison() const { std::memset(data(), 0xff, bytes); }

  /// Faults where somebody has written beside the allocation without telling.
  void check_zones() const {
    const auto whole = [](std::byte value) { return value == std::byte{guard}; };
    if (!std::all_of(block_.get(), data(), whole)) fail("something has written before ", name());
    if (!std::all_of(data() + bytes, data() + bytes + zone, whole))
      fail("something has written past the end of ", name());
  }

  /// For faults.
  std::string name() const {
    const std::string size = text(number, " (", bytes, " bytes");
    return device == on_host ? "pinned memory " + size + ")" : text("allocation ", size, " on device ", device, ")");
  }

  static constexpr std::size_t alignment = 256;
  static constexpr std::size_t zone = 256; ///< bytes on either side

  std::uint64_t number;
  int device;
  std::size_t bytes;
  state is = state::planned;
  bool released_by_host = false; ///< the release is enqueued at least
  std::size_t pending = 0;       ///< operations enqueued for it as pinned memory
  std::size_t pending_writes = 0;
  region_list history;
  byte_set read, written; ///< by the operation that runs
  bool touched = false;

 private:
  static constexpr unsigned char guard = 0xa5;

  struct deleter {
    void operator()(std::byte* block) const { ::operator delete[](block, std::align_val_t{alignment}); }
  };
  using block = std::unique_ptr<std::byte[], deleter>;
  block block_;

  allocation(std::uint64_t named, int of, std::size_t size, block in)
      : number(named), device(of), bytes(size), history(size, of == on_host), block_(std::move(in)) {}
};

/// All allocations, those released lately too: their addresses are not given away at once.
class memory {
 public:
  allocation& add(int device, std::size_t bytes) {
    auto made = std::make_unique<allocation>(++count_, device, bytes);
    allocation& result = *made;
    table_.emplace(address(result.data()), std::move(made));
    return result;
  }

  /// Where one of as many bytes was released last, or else anew.
  allocation& add_again(int device, std::size_t bytes) {
    const auto fits = [&](std::uintptr_t at) {
      const allocation& each = *table_.at(at);
      return each.device == device && each.bytes == bytes;
    };
    const auto last = std::find_if(retired_.rbegin(), retired_.rend(), fits);
    if (last == retired_.rend()) return add(device, bytes);
    std::unique_ptr<allocation>& place = table_.at(*last);
    retired_bytes_ -= bytes;
    retired_.erase(std::next(last).base());
    place = std::make_unique<allocation>(++count_, std::move(*place));
    return *place;
  }

  /// The allocation that has this byte, or has it in a red zone, or whose end this is; null for none.
  allocation* find(const void* pointer) const {
    const std::uintptr_t at = address(pointer);
    auto after = table_.upper_bound(at);
    if (after != table_.begin()) {
      allocation& before = *std::prev(after)->second;
      if (at - address(before.data()) < before.bytes + allocation::zone) return &before;
    }
    if (after != table_.end() && after->first - at <= allocation::zone) return after->second.get();
    return nullptr;
  }

  /// The live or planned allocation that starts here, for `what`.
  allocation& starting(const void* pointer, const char* what) const {
    allocation* found = find(pointer);
    if (found == nullptr) fail(what, " of an address that is no allocation's");
    if (found->data() != pointer) fail(what, " of an address inside or beside ", found->name());
    if (found->released_by_host) fail(what, ": ", found->name(), " was released before");
    return *found;
  }

  /// Once released, an allocation is kept for a while, so that late accesses are seen.
  void retire(allocation& released) {
    released.check_zones();
    released.poison();
    released.is = allocation::state::released;
    retired_.push_back(address(released.data()));
    retired_bytes_ += released.bytes;
    while (retired_bytes_ > most_retired && retired_.size() > 1) {
      const auto oldest = table_.find(retired_.front());
      retired_bytes_ -= oldest->second->bytes;
      table_.erase(oldest);
      retired_.pop_front();
    }
  }

  /// Allocations that were never released.
  std::vector<const allocation*> left() const {
    std::vector<const allocation*> found;
    for (const auto& [at, each] : table_)
      if (!each->released_by_host) found.push_back(each.get());
    std::sort(found.begin(), found.end(), [](auto* a, auto* b) { return a->number < b->number; });
    return found;
  }

 private:
  static constexpr std::size_t most_retired = std::size_t{16} << 20;

  static std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

  std::map<std::uintptr_t, std::unique_ptr<allocation>> table_;
  std::deque<std::uintptr_t> retired_;
  std::size_t retired_bytes_ = 0;
  std::uint64_t count_ = 0;
};

} // namespace simulator
