// One collective of one group, seen by a member: all come, see each other's operands, and leave.
#pragma once

#include "parallax/host/team.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace parallax::host {

/// Who a collective is among: all of a position's group along the axes, or of these the members with the given indices,
/// which the position's own is one of, in that order.
struct group_part {
  unsigned axes_mask;
  std::span<const std::int64_t> members;

  constexpr group_part(unsigned mask, std::span<const std::int64_t> indices = {}) : axes_mask(mask), members(indices) {}

  int size(const team& all) const {
    return members.empty() ? all.group_size(axes_mask) : static_cast<int>(members.size());
  }
};

/// The time in which the members of a group see each other's memory. The constructor waits until all have come. Small
/// operands are copied as they come, so that nobody has to wait for anybody in the end; otherwise the destructor waits
/// until all are done with each other's memory. Code in between must not throw.
class rendezvous {
 public:
  /// The member at `position` comes with its operand, `bytes` from `in`, and the place of its result. All of the group
  /// along the axes come, whatever parts it is divided into.
  rendezvous(team& all, int position, const group_part& who, collective kind, const void* in, void* out,
             std::size_t bytes)
      : team_(all),
        in_(in),
        out_(out),
        who_(who),
        everybody_(all.group_size(who.axes_mask & all.all_axes())),
        size_(who.members.empty() ? everybody_ : who.size(all)),
        buffered_(bytes <= team::publication::capacity) {
    if (who.axes_mask & ~all.all_axes()) throw error("a collective goes over an axis that the mesh does not have");
    if (everybody_ == 1) return;
    place_ = all.place_of(position, who.axes_mask);
    index_ = who.members.empty() ? place_.index
                                 : static_cast<int>(std::ranges::find(who.members, place_.index) - who.members.begin());
    if (index_ >= size_) throw error("a device is not in the part of a group that it calls a collective of");
    turn_ = place_.at->phase.load() >> 1 & 1;
    team::member& self = place_.members[place_.index];
    ++self.sequence;
    team::publication& mine = self.published[turn_];
    mine.kind = kind;
    mine.bytes = bytes;
    mine.in = in;
    mine.out = out;
    if (buffered_ && bytes > 0) std::memcpy(mine.data, in, bytes);
    all.meet(place_, position, who.axes_mask, kind);
    for (int k = 0; k < everybody_; ++k) {
      if (published(k).kind != kind || published(k).bytes != bytes) mismatch(k, kind);
    }
  }

  ~rendezvous() {
    if (everybody_ > 1 && !buffered_) team_.part(place_);
  }

  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;

  /// How many members take part.
  int size() const noexcept { return size_; }

  /// This member's place among them.
  int index() const noexcept { return index_; }

  /// Whether the operands are copies: then only they may be read, and no member's result but one's own be written.
  bool buffered() const noexcept { return buffered_; }

  /// The operand of the k-th member.
  const std::byte* input(int k) const noexcept {
    if (size_ == 1) return static_cast<const std::byte*>(in_);
    const team::publication& its = published(member(k));
    return buffered_ ? its.data : static_cast<const std::byte*>(its.in);
  }

  /// The place of the k-th member's result.
  std::byte* output(int k) const noexcept {
    return static_cast<std::byte*>(size_ == 1 ? out_ : published(member(k)).out);
  }

 private:
  /// The k-th member's place in the group.
  int member(int k) const noexcept {
    return who_.members.empty() ? k : static_cast<int>(who_.members[static_cast<std::size_t>(k)]);
  }
  const team::publication& published(int k) const noexcept { return place_.members[k].published[turn_]; }

  [[noreturn]] void mismatch(int other, collective kind) const {
    throw error(std::string(name_of(kind)) + " met a different collective of another device, " +
                std::string(name_of(published(other).kind)) + ": " + std::to_string(published(place_.index).bytes) +
                " bytes here, " + std::to_string(published(other).bytes) + " bytes there");
  }

  team& team_;
  const void* in_;
  void* out_;
  group_part who_;
  int everybody_; ///< in the group along the axes
  int size_;
  int index_ = 0;
  bool buffered_;
  unsigned turn_ = 0;
  team::place place_{};
};

} // namespace parallax::host
