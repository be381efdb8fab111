// One collective of one group, seen by a member: all come, see each other's operands, and leave.
#pragma once

#include "parallax/host/team.hpp"

#include <cstddef>
#include <cstring>

namespace parallax::host {

/// The time in which the members of a group see each other's memory. The constructor waits until all have come. Small
/// operands are copied as they come, so that nobody has to wait for anybody in the end; otherwise the destructor waits
/// until all are done with each other's memory. Code in between must not throw.
class rendezvous {
 public:
  /// The member at `position` comes with its operand, `bytes` from `in`, and the place of its result.
  rendezvous(team& all, int position, unsigned axes_mask, collective kind, const void* in, void* out, std::size_t bytes)
      : team_(all),
        in_(in),
        out_(out),
        size_(all.group_size(axes_mask & all.all_axes())),
        buffered_(bytes <= team::publication::capacity) {
    if (axes_mask & ~all.all_axes()) throw error("a collective goes over an axis that the mesh does not have");
    if (size_ == 1) return;
    place_ = all.place_of(position, axes_mask);
    turn_ = place_.at->phase.load() >> 1 & 1;
    team::member& self = place_.members[place_.index];
    ++self.sequence;
    team::publication& mine = self.published[turn_];
    mine.kind = kind;
    mine.bytes = bytes;
    mine.in = in;
    mine.out = out;
    if (buffered_ && bytes > 0) std::memcpy(mine.data, in, bytes);
    all.meet(place_, position, axes_mask, kind);
    for (int k = 0; k < size_; ++k) {
      if (published(k).kind != kind || published(k).bytes != bytes) mismatch(k, kind);
    }
  }

  ~rendezvous() {
    if (size_ > 1 && !buffered_) team_.part(place_);
  }

  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;

  /// How many members the group has.
  int size() const noexcept { return size_; }

  /// This member's place in the group.
  int index() const noexcept { return place_.index; }

  /// Whether the operands are copies: then only they may be read, and no member's result but one's own be written.
  bool buffered() const noexcept { return buffered_; }

  /// The operand of the k-th member.
  const std::byte* input(int k) const noexcept {
    if (size_ == 1) return static_cast<const std::byte*>(in_);
    return buffered_ ? published(k).data : static_cast<const std::byte*>(published(k).in);
  }

  /// The place of the k-th member's result.
  std::byte* output(int k) const noexcept { return static_cast<std::byte*>(size_ == 1 ? out_ : published(k).out); }

 private:
  const team::publication& published(int k) const noexcept { return place_.members[k].published[turn_]; }

  [[noreturn]] void mismatch(int other, collective kind) const {
    throw error(std::string(name_of(kind)) + " met a different collective of another device, " +
                std::string(name_of(published(other).kind)) + ": " + std::to_string(published(place_.index).bytes) +
                " bytes here, " + std::to_string(published(other).bytes) + " bytes there");
  }

  team& team_;
  const void* in_;
  void* out_;
  int size_;
  bool buffered_;
  unsigned turn_ = 0;
  team::place place_{};
};

} // namespace parallax::host
