// One collective of one group, seen by a member: all come, see each other's operands, and leave.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/team.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// The members of a collective: the whole group of a position along the axes, or those of the group that `members`
/// lists by their indices, in that order. The position's own index is among them.
struct group_part {
  unsigned axes_mask;
  plain_span<const int> members;

  constexpr group_part(unsigned mask, plain_span<const int> indices = {}) : axes_mask(mask), members(indices) {}

  int size(const team& all) const { return members.empty() ? all.group_size(axes_mask) : count_of(members); }
};

/// Who calls a collective: the device at a position of a team's mesh, as a member of a group.
struct group_member {
  team& all;
  int position;
  group_part group;

  /// How many members take part.
  int group_size() const { return group.size(all); }
};

/// The time in which the members of a group see each other's memory. The constructor waits until all have come. Small
/// operands are copied as they come, so that the destructor need not wait; otherwise it waits until all members are
/// done with each other's memory. Code in between must not throw.
class rendezvous {
 public:
  /// The member comes with its operand, `bytes` from `in`, and the place of its result. All of the group along the axes
  /// come, whatever parts it is divided into. Operands are not copied if `may_copy` is false.
  rendezvous(const group_member& who, collective kind, const void* in, void* out, std::size_t bytes,
             bool may_copy = true)
      : owner(who.all),
        own_operand(in),
        own_result(out),
        part(who.group),
        everyone(owner.group_size(part.axes_mask & owner.all_axes())),
        count(part.members.empty() ? everyone : who.group_size()),
        is_copied(may_copy && bytes <= team::publication::capacity) {
    if (part.axes_mask & ~owner.all_axes()) throw error("a collective goes over an axis that the mesh does not have");
    if (everyone == 1) return;
    where = owner.place_of(who.position, part.axes_mask);
    own_index = part.members.empty() ? where.index
                                     : static_cast<int>(plain::find(part.members, where.index) - part.members.begin());
    if (own_index >= count) throw error("a device is not in the part of a group that it calls a collective of");
    turn = where.at->phase.load() >> 1 & 1;
    team::member& self = where.members[where.index];
    ++self.sequence;
    team::publication& mine = self.published[turn];
    mine.kind = kind;
    mine.bytes = bytes;
    mine.in = in;
    mine.out = out;
    if (is_copied && bytes > 0) std::memcpy(mine.data, in, bytes);
    owner.meet(where, who.position, part.axes_mask, kind);
    for (int k = 0; k < everyone; ++k) {
      if (published(k).kind != kind || published(k).bytes != bytes) mismatch(k, kind);
    }
  }

  ~rendezvous() {
    if (everyone > 1 && !is_copied) owner.part(where);
  }

  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;

  /// How many members take part.
  int size() const noexcept { return count; }

  /// This member's index among the members.
  int index() const noexcept { return own_index; }

  /// Whether the operands are copies. If so, only these may be read, and a member may write its own result only.
  bool buffered() const noexcept { return is_copied; }

  /// The operand of the k-th member.
  const std::byte* input(int k) const noexcept {
    if (count == 1) return static_cast<const std::byte*>(own_operand);
    const team::publication& its = published(member(k));
    return is_copied ? its.data : static_cast<const std::byte*>(its.in);
  }

  /// The address of the k-th member's result.
  std::byte* output(int k) const noexcept {
    return static_cast<std::byte*>(count == 1 ? own_result : published(member(k)).out);
  }

 private:
  /// The k-th member's index in the group.
  int member(int k) const noexcept { return part.members.empty() ? k : part.members[index_of(k)]; }
  const team::publication& published(int k) const noexcept { return where.members[k].published[turn]; }

  [[noreturn]] void mismatch(int other, collective kind) const {
    throw error(std::string(name_of(kind)) + " met a different collective of another device, " +
                std::string(name_of(published(other).kind)) + ": " + std::to_string(published(where.index).bytes) +
                " bytes here, " + std::to_string(published(other).bytes) + " bytes there");
  }

  team& owner;
  const void* own_operand;
  void* own_result;
  group_part part;
  int everyone; ///< the number of members in the group along the axes
  int count;
  int own_index = 0;
  bool is_copied;
  unsigned turn = 0;
  team::place where{};
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
