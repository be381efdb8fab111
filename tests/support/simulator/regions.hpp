// Who last wrote and read which bytes of an allocation, and whether accesses are in order.
#pragma once

#include "support/simulator/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace simulator {

/// Bytes from `begin` up to `end`.
struct interval {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Two accesses of the same bytes that nothing orders, of which one writes; or a read of what nobody wrote.
struct conflict {
  interval where;
  access earlier;
  bool earlier_writes = false;
  bool unwritten = false;
};

/// The history of an allocation's bytes: a partition into regions that were accessed alike.
class region_list {
 public:
  /// `bytes` bytes; `initialised` where something else than an operation has written them.
  region_list(std::size_t bytes, bool initialised) { regions_.push_back({{0, bytes}, {}, {}, initialised}); }

  /// Notes that `who`, which knows `clock`, reads or writes these bytes: disjoint, in order. Returns a conflict.
  std::optional<conflict> touch(std::span<const interval> parts, bool writes, const access& who,
                                const vector_clock& clock) {
    std::optional<conflict> found;
    if (regions_.size() == 1 && parts.size() == 1 && parts[0].begin == 0 && parts[0].end == regions_[0].bytes.end) {
      pass(regions_[0], writes, who, clock, found);
      return found;
    }
    if (parts.empty()) return found;
    // only what lies around the accessed bytes is cut anew
    const auto first = std::lower_bound(regions_.begin(), regions_.end(), parts.front().begin,
                                        [](const region& each, std::size_t at) { return each.bytes.end <= at; });
    const auto last = std::lower_bound(first, regions_.end(), parts.back().end,
                                       [](const region& each, std::size_t at) { return each.bytes.begin < at; });
    std::vector<region> cut;
    if (first != regions_.begin()) cut.push_back(*std::prev(first)); // which the next one may be like
    std::size_t i = 0;
    for (auto whole = first; whole != last; ++whole) {
      std::size_t at = whole->bytes.begin;
      while (i < parts.size() && parts[i].begin < whole->bytes.end) {
        const interval inside{std::max(at, parts[i].begin), std::min(whole->bytes.end, parts[i].end)};
        if (inside.begin > at) append(cut, part_of(*whole, {at, inside.begin}));
        region touched = part_of(*whole, inside);
        pass(touched, writes, who, clock, found);
        append(cut, std::move(touched));
        at = inside.end;
        if (parts[i].end > whole->bytes.end) break;
        ++i;
      }
      if (at < whole->bytes.end) append(cut, part_of(*whole, {at, whole->bytes.end}));
    }
    const bool has_next = last != regions_.end();
    if (has_next) append(cut, std::move(*last));
    const auto begin = first == regions_.begin() ? first : std::prev(first);
    const auto end = has_next ? std::next(last) : last;
    const auto replaced = std::min(end - begin, static_cast<std::ptrdiff_t>(cut.size()));
    const auto rest = std::move(cut.begin(), cut.begin() + replaced, begin);
    if (rest != end) regions_.erase(rest, end);
    else regions_.insert(rest, std::make_move_iterator(cut.begin() + replaced), std::make_move_iterator(cut.end()));
    return found;
  }

  /// The bytes are as good as fresh, and `who` was the one to make them so.
  void reset(const access& who, bool initialised) {
    const std::size_t bytes = regions_.empty() ? 0 : regions_.back().bytes.end;
    regions_.clear();
    regions_.push_back({{0, bytes}, who, {}, initialised});
  }

  /// An access that `clock` does not know of.
  std::optional<access> unknown_to(const vector_clock& clock) const {
    for (const region& each : regions_) {
      if (!clock.covers(each.writer)) return each.writer;
      for (const access& reader : each.readers)
        if (!clock.covers(reader)) return reader;
    }
    return std::nullopt;
  }

 private:
  struct region {
    interval bytes;
    access writer;
    std::vector<access> readers; // since the last write
    bool initialised = false;

    bool like(const region& other) const {
      return writer == other.writer && initialised == other.initialised && readers == other.readers;
    }
  };

  static void pass(region& touched, bool writes, const access& who, const vector_clock& clock,
                   std::optional<conflict>& found) {
    if (!found && !clock.covers(touched.writer)) found = conflict{touched.bytes, touched.writer, true, false};
    if (!writes) {
      if (!found && !touched.initialised) found = conflict{touched.bytes, touched.writer, false, true};
      // What comes after this reader comes after those before it too.
      std::erase_if(touched.readers, [&](const access& reader) { return clock.covers(reader); });
      touched.readers.push_back(who);
      return;
    }
    for (const access& reader : touched.readers)
      if (!found && !clock.covers(reader)) found = conflict{touched.bytes, reader, false, false};
    touched.readers.clear();
    touched.writer = who;
    touched.initialised = true;
  }

  static region part_of(const region& whole, interval bytes) {
    region part = whole;
    part.bytes = bytes;
    return part;
  }
  static void append(std::vector<region>& list, region next) {
    if (!list.empty() && list.back().like(next)) list.back().bytes.end = next.bytes.end;
    else list.push_back(std::move(next));
  }

  std::vector<region> regions_;
};

} // namespace simulator
