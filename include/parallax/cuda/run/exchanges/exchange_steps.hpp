// The steps of a program that exchange values between devices: by NCCL between distinct devices, by kernels and copies
// of our own between logical devices that share one.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/kernels/copies/exchange.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/exchange_memory.hpp>
#include <parallax/cuda/run/exchanges/gathered_operands.hpp>
#include <parallax/processes/world.hpp>
#include <parallax/program/section_steps.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Whether an exchange has members in other processes.
template <device_api Api> bool exchange_crosses(const mesh<Api>& all, const exchange_step& step) {
  return !step.is_of_process && all.crosses_processes(step.axes.bits);
}
/// The groups along an exchange's axes, divided into parts if the step has any.
template <device_api Api>
std::vector<std::vector<int>> groups_of(const plan_view& plan, const mesh<Api>& all, const exchange_step& step) {
  std::vector<std::vector<int>> whole = all.groups(step.axes.bits, exchange_crosses(all, step));
  if (step.groups.empty()) return whole;
  std::vector<std::vector<int>> parts;
  for (const std::vector<int>& group : whole)
    for (const group_record& part : plan[step.groups]) {
      parts.emplace_back();
      for (int index : plan[part.members]) parts.back().push_back(group[index_of(index)]);
    }
  return parts;
}
/// Creates the cliques of all exchanges between processes in a section, in one order on every process, since processes
/// may reach exchanges in different orders or not at all.
template <device_api Api>
void make_cliques(backend<Api>& owner, const plan_view& plan, const mesh<Api>& all, section_id section) {
  for_each_step(plan, section, [&](const step_record& step) {
    for_each_body(plan, step, [&](section_id body) { make_cliques(owner, plan, all, body); });
    if (step.kind != step_kind::exchange) return;
    const exchange_step& exchange = plan.at<exchange_step>(step.index);
    if (!exchange_crosses(all, exchange)) return;
    std::vector<std::vector<int>> groups = groups_of(plan, all, exchange);
    std::erase_if(groups, [](const std::vector<int>& group) { return group.size() == 1; });
    if (!groups.empty()) owner.cliques_of(all, true, groups);
  });
}

/// One exchange; `from` and `to` are the operand's and the result's first bytes by position. It runs at the positions
/// that are `running`, or at all if none are given; all members of a group run it, or none. If it is captured,
/// `captured` notes it, and it happens at each launch.
template <device_api Api> class exchange_runner {
 public:
  exchange_runner(backend<Api>& of, const mesh<Api>& devices, const section_plan& section, const exchange_step& what,
                  const std::vector<std::byte*>& from, const std::vector<std::byte*>& to,
                  const std::vector<bool>& running, captured_exchanges* captured)
      : owner(of),
        all(devices),
        plan(section.plan),
        step(what),
        partners(section.plan, what),
        type(section.type_of(what.source)),
        bytes(section.bytes_of(what.source)),
        sources(from),
        results(to),
        going(running),
        noted(captured),
        outer(index_of(section.extents[what.outer])),
        inner(index_of(section.extents[what.inner])),
        inner_bytes(inner * size_of(type)) {}

  bool is_captured() const { return noted != nullptr; }

  /// Enqueues the step, or returns false and leaves it to NCCL: `prepare`, `enqueue` inside a group, and `finish` once
  /// the group has reached the devices' streams.
  bool run_without_nccl() {
    std::vector<std::vector<int>> parts = groups_of(plan, all, step);
    std::erase_if(parts, [this](const std::vector<int>& group) {
      const int p = all.position_of(group[0]);
      if (group.size() == 1 && p >= 0 && runs_at(p)) run_alone(p);
      return group.size() == 1;
    });
    if (parts.empty()) return true;
    if (noted != nullptr) noted->add(name_of(step.kind), step.axes.bits, bytes);
    else if (crosses()) number = all.whole()->of().next_shared_exchange();
    // devices are distinct in all groups, or, if they are shared, perhaps in some
    const std::vector<clique<Api>*> found = owner.cliques_of(all, crosses(), parts);
    for (std::size_t g = 0; g < parts.size(); ++g)
      if (found[g] != nullptr && runs_at(own_position(parts[g]))) {
        groups.push_back(std::move(parts[g]));
        cliques.push_back(found[g]);
      }
    if (groups.empty()) return true;
    const bool nccl = plain::all_of(cliques, [](const auto* each) { return each->uses_nccl(); });
    if (!nccl)
      for (const auto& group : groups) run_shared(group);
    return !nccl || bytes == 0;
  }

  /// Enqueues the work before the group.
  void prepare() {
    rearranged = is_rearranged(step.kind, outer);
    arranged.resize(index_of(all.size()));
    const std::size_t members = groups[0].size();
    for (int p = 0; rearranged && p < all.size(); ++p) {
      if (!runs_at(p)) continue;
      arranged[index_of(p)] = allocate<Api>(device_at(p), gathers() ? bytes * members : bytes);
      for (std::size_t k = 0; scatters() && k < members; ++k)
        take_slice(p, aside(p) + k * outer * inner_bytes, source(p), k, members);
    }
    if (in_tree()) gathered.resize(index_of(all.size()));
    for_each_member([&](std::size_t g, int rank, int position) {
      if (in_tree()) gather_at(position, index_of(rank), groups[g].size());
      if (step.kind == exchange_kind::permute) keep_own_value(position, rank, count_of(groups[g]));
      if (step.kind == exchange_kind::all_to_all) keep_own_block(position, rank);
    });
    if (!is_captured()) owner.recorder.begin(name_of(step.kind).data(), step.axes.bits, bytes, all.devices, number);
  }
  /// Enqueues every member's call.
  void enqueue() {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const clique<Api>& among = *cliques[g];
      for (std::size_t k = 0; k < among.ranks.size(); ++k)
        enqueue_member(groups[g], among.ranks[k], among.communicators[k]);
    }
  }
  /// The cliques with members here that run the exchange.
  plain_span<clique<Api>* const> cliques_used() const { return cliques; }
  /// Enqueues the work behind the group.
  void finish() {
    const std::size_t members = groups[0].size();
    for (int p = 0; rearranged && gathers() && p < all.size(); ++p)
      for (std::size_t k = 0; runs_at(p) && k < members; ++k)
        put_slice(p, result(p), aside(p) + k * outer * inner_bytes, k, members);
    if (in_tree())
      for_each_member([&](std::size_t, int, int p) { gathered[index_of(p)].combine(step.reduction, type, result(p)); });
  }

 private:
  backend<Api>& owner;
  const mesh<Api>& all;
  const plan_view& plan;
  const exchange_step& step;
  exchange_partners partners;
  element_type type;
  std::size_t bytes;
  const std::vector<std::byte*>& sources;
  const std::vector<std::byte*>& results;
  const std::vector<bool>& going; ///< by position
  captured_exchanges* noted;      ///< null if the step is not captured
  std::size_t outer, inner, inner_bytes;
  std::vector<std::vector<int>> groups; ///< places, by group and rank; groups with members here
  std::vector<clique<Api>*> cliques;    ///< by group
  std::uint64_t number = 0;             ///< among those with members in other processes; 0 for others
  bool rearranged = false;
  recycled_vector<buffer> arranged;             ///< by position: what NCCL reads or writes, if its order is another
  std::vector<gathered_operands<Api>> gathered; ///< by position: operands to combine in the host's order

  bool runs_at(int position) const { return going.empty() || going[index_of(position)]; }
  bool gathers() const { return step.kind == exchange_kind::all_gather; }
  bool scatters() const { return step.kind == exchange_kind::reduce_scatter; }
  bool crosses() const { return exchange_crosses(all, step); }
  bool in_tree() const { return is_gathered(step.kind, type, owner.options.deterministic); }
  std::byte* aside(int position) const { return address_of<Api>(arranged[index_of(position)]); }

  device<Api>& device_at(int position) const { return *all.devices[index_of(position)]; }
  std::byte* source(int position) const { return sources[index_of(position)]; }
  std::byte* result(int position) const { return results[index_of(position)]; }
  /// The position of a member of this process.
  int own_position(const std::vector<int>& group) const {
    for (int place : group)
      if (const int position = all.position_of(place); position >= 0) return position;
    return -1;
  }
  /// Calls `f(number of a group, rank, position)` for the members of this process.
  template <class F> void for_each_member(const F& f) const {
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (int rank : cliques[g]->ranks) f(g, rank, all.position_of(groups[g][index_of(rank)]));
  }
  /// Copies on the device of a position: from the `index`-th of `count` slices of each row to contiguous rows, or back.
  void take_slice(int position, std::byte* to, const std::byte* from, std::size_t index, std::size_t count) {
    device_at(position).copy_rows(to, inner_bytes, from + index * inner_bytes, count * inner_bytes, inner_bytes, outer);
  }
  void put_slice(int position, std::byte* to, const std::byte* from, std::size_t index, std::size_t count) {
    device_at(position).copy_rows(to + index * inner_bytes, count * inner_bytes, from, inner_bytes, inner_bytes, outer);
  }

  /// In a group of one, every collective is a copy, except for a permutation in which nobody sends.
  void run_alone(int p) {
    if (step.kind == exchange_kind::permute && partners.source_of(0, 1) < 0) fill_zero(p);
    else if (result(p) != source(p)) copy_across<Api>(device_at(p), result(p), device_at(p), source(p), bytes);
  }
  void fill_zero(int position) { device_at(position).fill_zero(result(position), bytes); }

  // NCCL

  /// Makes the memory for the operands that a member is to combine, and copies its own operand there.
  void gather_at(int position, std::size_t rank, std::size_t members) {
    device<Api>& on = device_at(position);
    const std::size_t part = scatters() ? bytes / members : bytes;
    gathered_operands<Api>& of = gathered[index_of(position)] = {on, members, part};
    if (scatters()) copy_across<Api>(on, of.operand(rank), on, scattered(position) + rank * part, part);
  }
  /// A scattered operand as NCCL takes it, member by member.
  std::byte* scattered(int position) const { return rearranged ? aside(position) : source(position); }
  /// Copies the value of a permutation that a device sends to itself.
  void keep_own_value(int position, int rank, int size) {
    const int sender = partners.source_of(rank, size);
    if (sender < 0) fill_zero(position);
    if (sender == rank)
      copy_across<Api>(device_at(position), result(position), device_at(position), source(position), bytes);
  }
  /// Copies the block of an all-to-all that a device sends to itself.
  void keep_own_block(int position, int rank) {
    device<Api>& on = device_at(position);
    const std::size_t own = index_of(rank) * inner_bytes;
    copy_across<Api>(on, result(position) + own, on, source(position) + own, inner_bytes);
  }

  void enqueue_member(const std::vector<int>& group, int rank, typename Api::communicator communicator) {
    const int position = all.position_of(group[index_of(rank)]);
    const std::byte* from = scatters() ? scattered(position) : source(position);
    std::byte* to = gathers() && rearranged ? aside(position) : result(position);
    const std::size_t count = bytes / size_of(type);
    const device<Api>& on = device_at(position); // need not be current
    switch (step.kind) {
    case exchange_kind::all_reduce:
      if (in_tree())
        return check(
            Api::all_gather(from, gathered[index_of(position)].operand(0), count, type, communicator, on.stream()),
            on.number);
      return check(Api::all_reduce(from, to, count, type, step.reduction, communicator, on.stream()), on.number);
    case exchange_kind::all_gather:
      return check(Api::all_gather(from, to, count, type, communicator, on.stream()), on.number);
    case exchange_kind::reduce_scatter:
      if (in_tree())
        return enqueue_blocks(on, from, gathered[index_of(position)].operand(0), group.size(), rank,
                              count / group.size(), communicator);
      return check(
          Api::reduce_scatter(from, to, count / group.size(), type, reduction_kind::sum, communicator, on.stream()),
          on.number);
    case exchange_kind::broadcast:
      return check(Api::broadcast(from, to, count, type, step.source_index, communicator, on.stream()), on.number);
    case exchange_kind::all_to_all: return enqueue_blocks(on, from, to, group.size(), rank, inner, communicator);
    case exchange_kind::permute: return enqueue_permutation(on, from, to, count_of(group), rank, communicator);
    }
  }
  void enqueue_permutation(const device<Api>& on, const std::byte* from, std::byte* to, int size, int rank,
                           typename Api::communicator communicator) {
    const std::size_t count = bytes / size_of(type);
    const int sender = partners.source_of(rank, size);
    for (int receiver = 0; receiver < size; ++receiver)
      if (partners.source_of(receiver, size) == rank && receiver != rank)
        check(Api::send(from, count, type, receiver, communicator, on.stream()), on.number);
    if (sender >= 0 && sender != rank)
      check(Api::receive(to, count, type, sender, communicator, on.stream()), on.number);
  }

  /// A member's part of an all-to-all: a block of `count` elements to and one from each other member.
  void enqueue_blocks(const device<Api>& on, const std::byte* from, std::byte* to, std::size_t members, int rank,
                      std::size_t count, typename Api::communicator communicator) {
    const std::size_t block = count * size_of(type);
    for (std::size_t k = 0; k < members; ++k) {
      const int other = static_cast<int>(k);
      if (other == rank) continue;
      check(Api::send(from + k * block, count, type, other, communicator, on.stream()), on.number);
      check(Api::receive(to + k * block, count, type, other, communicator, on.stream()), on.number);
    }
  }

  // Devices that share memory

  /// Makes later work of every member wait for the work that all members have enqueued.
  void meet(const std::vector<int>& group) {
    device<Api>& first = device_at(group[0]);
    for (int position : group) first.wait_for(device_at(position));
    for (int position : group) device_at(position).wait_for(first);
  }

  void run_shared(std::vector<int> group) {
    if (bytes == 0) return;
    for (int& each : group) each = all.position_of(each);
    meet(group);
    if (step.kind == exchange_kind::all_reduce && lies_in_place(group)) reduce_parts(group);
    else
      for (std::size_t rank = 0; rank < group.size(); ++rank) run_member(group, rank);
    meet(group); // before any member changes memory that others read
  }

  bool lies_in_place(const std::vector<int>& group) const {
    return plain::any_of(group, [&](int position) { return result(position) == source(position); });
  }
  /// Each member combines a part of all operands, which no other member reads, into its own result; then all copy the
  /// others' parts from there. So a result may lie in an operand's memory.
  void reduce_parts(const std::vector<int>& group) {
    const std::size_t element = size_of(type), line = 64;
    const std::size_t most = (bytes / element / group.size() / line + 1) * line * element;
    const auto begin_of = [&](std::size_t rank) { return std::min(bytes, rank * most); };
    const auto size_at = [&](std::size_t rank) { return begin_of(rank + 1) - begin_of(rank); };
    for (std::size_t rank = 0; size_at(rank) > 0; ++rank) {
      device<Api>& on = device_at(group[rank]);
      on.activate();
      const combined_slices part{1, 1, static_cast<std::int64_t>(size_at(rank) / element), 0};
      check(launch_combine<Api>(on.context(), step.reduction, type, inputs_of(group, begin_of(rank)),
                                result(group[rank]) + begin_of(rank), part),
            on.number);
    }
    meet(group);
    for (const int position : group) {
      device<Api>& on = device_at(position);
      on.activate();
      for (std::size_t rank = 0; size_at(rank) > 0; ++rank) {
        if (group[rank] == position) continue;
        const std::byte* const part = result(group[rank]) + begin_of(rank);
        check(Api::copy_between(result(position) + begin_of(rank), on.physical, part, device_at(group[rank]).physical,
                                size_at(rank), on.stream()),
              on.number);
      }
    }
  }

  void run_member(const std::vector<int>& group, std::size_t rank) {
    const int position = group[rank];
    device<Api>& on = device_at(position);
    on.activate();
    auto copy = [&](std::byte* to, int from_position, const std::byte* from, std::size_t size) {
      check(Api::copy_between(to, on.physical, from, device_at(from_position).physical, size, on.stream()), on.number);
    };
    switch (step.kind) {
    case exchange_kind::all_reduce: {
      const combined_slices whole{1, 1, static_cast<std::int64_t>(bytes / size_of(type)), 0};
      return check(launch_combine<Api>(on.context(), step.reduction, type, inputs_of(group), result(position), whole),
                   on.number);
    }
    case exchange_kind::reduce_scatter: {
      const combined_slices own{static_cast<std::int64_t>(outer), std::ssize(group), static_cast<std::int64_t>(inner),
                                static_cast<std::int64_t>(rank)};
      return check(
          launch_combine<Api>(on.context(), reduction_kind::sum, type, inputs_of(group), result(position), own),
          on.number);
    }
    case exchange_kind::all_gather: {
      buffer piece = outer == 1 ? buffer{} : allocate<Api>(on, bytes);
      for (std::size_t k = 0; k < group.size(); ++k) {
        if (outer == 1) {
          copy(result(position) + k * bytes, group[k], source(group[k]), bytes);
        } else {
          copy(address_of<Api>(piece), group[k], source(group[k]), bytes);
          put_slice(position, result(position), address_of<Api>(piece), k, group.size());
        }
      }
      return;
    }
    case exchange_kind::all_to_all:
      for (std::size_t k = 0; k < group.size(); ++k)
        copy(result(position) + k * inner_bytes, group[k], source(group[k]) + rank * inner_bytes, inner_bytes);
      return;
    case exchange_kind::broadcast: {
      const int from = group[index_of(step.source_index)];
      return copy(result(position), from, source(from), bytes);
    }
    case exchange_kind::permute: {
      const int sender = partners.source_of(static_cast<int>(rank), count_of(group));
      if (sender < 0) return fill_zero(position);
      const int from = group[index_of(sender)];
      copy(result(position), from, source(from), bytes);
    }
    }
  }
  std::vector<const void*> inputs_of(const std::vector<int>& group, std::size_t begin = 0) const {
    std::vector<const void*> inputs;
    for (int position : group) inputs.push_back(source(position) + begin);
    return inputs;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
