// What one operation reads and writes: each access is checked for bounds and ownership at once, and all of them for
// their order when the operation ends.
#pragma once

#include "support/simulator/block.hpp"
#include "support/simulator/memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace simulator {

inline constexpr int most_devices = 64;

/// Bit p of element d: device d may access the memory of device p.
using peer_table = std::array<std::uint64_t, most_devices>;

/// An operation, for faults.
inline std::string name_of(const access& who) {
  return text(who.name, " (operation ", who.time, " of stream ", who.stream + 1, " on device ", who.device, ")");
}

class recorder final : public access_observer {
 public:
  /// For the operation `who`, which knows `clock`, itself included.
  recorder(const memory& table, const peer_table& peers, const access& who, const vector_clock& clock,
           std::map<std::uint64_t, unsigned>* conditions = nullptr)
      : table_(&table), peers_(&peers), who_(who), clock_(&clock), conditions_(conditions) {}

  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  ~recorder() override {
    for (allocation* each : touched_) forget(*each);
  }

  /// By the device itself.
  void read(const void* pointer, std::size_t bytes) override { access_memory(pointer, bytes, false); }
  void write(void* pointer, std::size_t bytes) override { access_memory(pointer, bytes, true); }

  void set_condition(std::uint64_t condition, unsigned number) override {
    if (conditions_ == nullptr) fail(name_of(who_), " sets a condition outside of any graph");
    const auto found = conditions_->find(condition);
    if (found == conditions_->end()) fail(name_of(who_), " sets a condition that is not its graph's");
    found->second = number;
  }

  /// By the copy engines, which reach every device, and the host's pinned memory. It has to be memory of `owner`.
  void read_of(int owner, const void* pointer, std::size_t bytes) {
    if (bytes != 0) insert(owned(owner, pointer, bytes, "reads"), pointer, bytes, false);
  }
  void write_of(int owner, const void* pointer, std::size_t bytes) {
    if (bytes != 0) insert(owned(owner, pointer, bytes, "writes"), pointer, bytes, true);
  }

  /// Faults where another access of the same bytes is not ordered with one of these.
  void finish() {
    for (allocation* each : touched_) {
      each->read.remove(each->written); // what it writes itself counts as written
      check(*each, each->read.take(), false);
      check(*each, each->written.take(), true);
      each->touched = false;
    }
    touched_.clear();
    known_.clear();
  }

  const access& who() const { return who_; }
  const vector_clock& clock() const { return *clock_; }

  /// Faults unless the operation comes after all accesses of the allocation, as one that releases it has to.
  void check(allocation& of, const std::vector<interval>& parts, bool writes) {
    if (const auto found = of.history.touch(parts, writes, who_, *clock_))
      report(of, *found, writes ? "writes" : "reads");
  }

 private:
  static void forget(allocation& each) {
    each.read.take();
    each.written.take();
    each.touched = false;
  }

  /// An allocation that the operation may access, as it has been found to.
  struct known_memory {
    const std::byte* begin;
    std::size_t bytes;
    allocation* of;
  };

  void access_memory(const void* pointer, std::size_t bytes, bool writes) {
    if (bytes == 0) return;
    for (const known_memory& each : known_) {
      const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - each.begin);
      if (offset >= each.bytes || each.bytes - offset < bytes) continue;
      (writes ? each.of->written : each.of->read).insert({offset, offset + bytes}, each.bytes);
      return;
    }
    allocation& found = reached(pointer, bytes, writes ? "writes" : "reads");
    insert(found, pointer, bytes, writes);
    known_.push_back({found.data(), found.bytes, &found});
  }

  allocation& inside(const void* pointer, std::size_t bytes, const char* does) {
    allocation* found = table_->find(pointer);
    if (found == nullptr) fail(name_of(who_), " ", does, " ", bytes, " bytes at an address that is no allocation's");
    const std::ptrdiff_t offset = static_cast<const std::byte*>(pointer) - found->data();
    const auto size = static_cast<std::ptrdiff_t>(found->bytes);
    if (offset < 0 || offset + static_cast<std::ptrdiff_t>(bytes) > size)
      fail(name_of(who_), " ", does, " out of bounds: bytes ", offset, " to ",
           offset + static_cast<std::ptrdiff_t>(bytes), " of ", found->name());
    if (found->is == allocation::state::released)
      fail(name_of(who_), " ", does, " ", found->name(), " after its release");
    if (found->is == allocation::state::planned)
      fail("a missing event: ", name_of(who_), " ", does, " ", found->name(),
           ", which its stream has not allocated yet");
    return *found;
  }

  allocation& reached(const void* pointer, std::size_t bytes, const char* does) {
    allocation& found = inside(pointer, bytes, does);
    if (found.device == on_host) fail(name_of(who_), " ", does, " ", found.name(), ", which copies alone may do");
    if (found.device != who_.device && ((*peers_)[static_cast<std::size_t>(who_.device)] >> found.device & 1) == 0)
      fail(name_of(who_), " ", does, " ", found.name(), ", whose access is not enabled for device ", who_.device);
    return found;
  }

  allocation& owned(int owner, const void* pointer, std::size_t bytes, const char* does) {
    allocation& found = inside(pointer, bytes, does);
    if (found.device == owner) return found;
    fail(name_of(who_), " ", does, " ", found.name(), " where memory of ",
         owner == on_host ? std::string("the host") : text("device ", owner), " is expected");
  }

  void insert(allocation& of, const void* pointer, std::size_t bytes, bool writes) {
    if (!of.touched) {
      of.touched = true;
      touched_.push_back(&of);
    }
    const auto begin = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - of.data());
    (writes ? of.written : of.read).insert({begin, begin + bytes}, of.bytes);
  }

  [[noreturn]] void report(const allocation& of, const conflict& found, const char* does) const {
    const std::string what =
        text(name_of(who_), " ", does, " bytes ", found.where.begin, " to ", found.where.end, " of ", of.name());
    if (found.unwritten) fail(what, ", which nothing has written");
    fail("a missing event: ", what, ", and nothing orders it with ", name_of(found.earlier), ", which ",
         found.earlier_writes ? "writes" : "reads", " them");
  }

  const memory* table_;
  const peer_table* peers_;
  access who_;
  const vector_clock* clock_;
  std::map<std::uint64_t, unsigned>* conditions_; ///< of the graph that the operation is part of
  std::vector<allocation*> touched_;
  std::vector<known_memory> known_;
};

} // namespace simulator
