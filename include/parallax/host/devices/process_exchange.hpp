// Collectives whose members lie in several processes: the devices of a process meet, and one of them speaks for all.
#pragma once

#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/collectives.hpp>
#include <parallax/host/devices/process_members.hpp>
#include <parallax/host/devices/process_reduction.hpp>
#include <parallax/host/devices/rendezvous.hpp>
#include <parallax/host/devices/team.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/processes/world.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Exchanges that move values, and do not combine them.
class process_moves : process_members {
 public:
  using process_members::process_members;

  void all_gather() const {
    std::vector<const std::byte*> operands(index_of(group.size()));
    processes::mail letters = mail();
    bool is_packed = false;
    for_each_other([&](std::size_t, const share& other) {
      if (std::exchange(is_packed, true)) letters.same_to(other.process);
      else send(letters, other.process, group.own().slots);
      expect(letters, other.process, other.slots, operands);
    });
    for (int slot : group.own().slots) operands[index_of(slot)] = input(slot);
    letters.deliver();
    const std::size_t inner = request.inner_bytes, stride = inner * operands.size();
    for (int slot : group.own().slots)
      for (std::size_t k = 0; k < operands.size(); ++k)
        copy_rows(output(slot) + k * inner, stride, operands[k], inner, request.outer, inner);
  }

  void all_to_all() const {
    const std::size_t block = request.inner_bytes;
    processes::mail letters = mail();
    std::vector<const std::byte*> from_process(process_count());
    for_each_other([&](std::size_t place, const share& other) {
      const std::size_t bytes = other.slots.size() * group.own().slots.size() * block;
      std::byte* to = letters.to(other.process, bytes);
      for (int sender : group.own().slots)
        for (int receiver : other.slots) {
          copy(to, input(sender) + index_of(receiver) * block, block);
          to += block;
        }
      from_process[place] = letters.from(other.process, bytes);
    });
    letters.deliver();
    for_each_other([&](std::size_t place, const share& other) {
      const std::byte* from = from_process[place];
      for (int sender : other.slots)
        for (int receiver : group.own().slots) {
          copy(output(receiver) + index_of(sender) * block, from, block);
          from += block;
        }
    });
    for (int sender : group.own().slots)
      for (int receiver : group.own().slots)
        copy(output(receiver) + index_of(sender) * block, input(sender) + index_of(receiver) * block, block);
  }

  /// Each member gets the whole operand of another one, or zeros. `source_of(slot)` is the other one for member `slot`;
  /// -1 for zeros.
  template <class SourceOf> void move_whole(const SourceOf& source_of) const {
    const std::size_t bytes = request.bytes;
    std::vector<int> sources(index_of(group.size()));
    for (int slot = 0; slot < group.size(); ++slot) sources[index_of(slot)] = source_of(slot);
    // the operands that one process sends another: each once, in the order of the members
    const auto sent_from = [&](const share& sender, const share& receiver) {
      std::vector<int> slots;
      for (int slot : sender.slots)
        if (std::any_of(receiver.slots.begin(), receiver.slots.end(),
                        [&](int wanting) { return sources[index_of(wanting)] == slot; }))
          slots.push_back(slot);
      return slots;
    };
    processes::mail letters = mail();
    std::vector<const std::byte*> operands(index_of(group.size()));
    for_each_other([&](std::size_t, const share& other) {
      if (const std::vector<int> sent = sent_from(group.own(), other); !sent.empty())
        send(letters, other.process, sent);
      if (const std::vector<int> coming = sent_from(other, group.own()); !coming.empty())
        expect(letters, other.process, coming, operands);
    });
    letters.deliver();
    for (int slot : group.own().slots) operands[index_of(slot)] = input(slot);
    for (int slot : group.own().slots) {
      const int source = sources[index_of(slot)];
      if (source >= 0) copy(output(slot), operands[index_of(source)], bytes);
      else if (bytes > 0) std::memset(output(slot), 0, bytes);
    }
  }

 private:
  /// Sends the operands of these members, one after another.
  void send(processes::mail& letters, int process, const std::vector<int>& slots) const {
    std::byte* to = letters.to(process, slots.size() * request.bytes);
    for (int slot : slots) {
      copy(to, input(slot), request.bytes);
      to += request.bytes;
    }
  }
  /// Sets the addresses where the operands of another process' members will arrive.
  void expect(processes::mail& letters, int process, const std::vector<int>& slots,
              std::vector<const std::byte*>& operands) const {
    const std::byte* from = letters.from(process, slots.size() * request.bytes);
    for (int slot : slots) {
      operands[index_of(slot)] = from;
      from += request.bytes;
    }
  }
};

/// Carries out an exchange with members in other processes, as the collectives of a team do; it throws what they throw,
/// and `process_error`. `parts`: the parts that a group is cut into, by their members' indices along the axes; empty if
/// the group is whole. `source_of(index)`: for a permutation, the member that member `index` receives from; -1 for
/// none.
inline void exchange_between_processes(team& all, int position, unsigned axes_mask, const exchange_request& request,
                                       plain_span<const plain_span<const int>> parts, const void* in, void* out,
                                       function_ref<int(int)> source_of) {
  const auto run = [&](const rendezvous& here) {
    processes::world& world = all.whole()->of();
    processes::occasion which{name_of(request.kind), processes::message_tag::of_devices + position, 0,
                              static_cast<std::uint64_t>(request.kind) |
                                  static_cast<std::uint64_t>(request.reduction) << 4 |
                                  static_cast<std::uint64_t>(axes_mask) << 10};
    which.number = world.next_exchange(which.tag, axes_mask);
    const plain_span<const int> everybody;
    for (std::size_t part = 0; part < std::max<std::size_t>(1, parts.size()); ++part) {
      const processes::process_group& group =
          all.whole()->group(axes_mask, all.whole_place(position), parts.empty() ? everybody : parts[part]);
      if (group.own_place() < 0) continue;
      which.part = part;
      const process_moves moving(here, group, request, world, which);
      const process_reduction combining(here, group, request, world, which);
      switch (request.kind) {
      case exchange_kind::all_reduce: combining.all_reduce(); break;
      case exchange_kind::reduce_scatter: combining.reduce_scatter(); break;
      case exchange_kind::all_gather: moving.all_gather(); break;
      case exchange_kind::all_to_all: moving.all_to_all(); break;
      case exchange_kind::broadcast: moving.move_whole([&](int) { return request.source_index; }); break;
      case exchange_kind::permute: moving.move_whole(source_of); break;
      }
    }
  };
  {
    rendezvous here({all, position, axes_mask}, request.kind, in, out, request.bytes, false);
    if (here.index() == 0) {
      try {
        run(here);
      } catch (...) {
        all.abort(); // the others see it after they have parted
        throw;
      }
    }
  }
  if (all.aborted()) throw peer_failed();
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
