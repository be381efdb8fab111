// The steps of a program that exchange values between devices: by NCCL between distinct devices, by kernels and copies
// of our own between logical devices that share one.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/exchange_groups.hpp>
#include <parallax/cuda/run/exchanges/exchange_memory.hpp>
#include <parallax/cuda/run/exchanges/exchange_operands.hpp>
#include <parallax/cuda/run/exchanges/gathered_operands.hpp>
#include <parallax/cuda/run/exchanges/run_state.hpp>
#include <parallax/cuda/run/exchanges/shared_gpu_exchange.hpp>
#include <parallax/processes/world.hpp>
#include <parallax/program/section_steps.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// One exchange; `from` and `to` are the operand's and the result's first bytes by position. It runs at the positions
/// that `how` names; all members of a group run it, or none. If it is captured, it is noted, and it happens at each
/// launch.
template <device_api Api> class exchange_runner : exchange_operands<Api> {
 public:
  exchange_runner(backend<Api>& of, const mesh<Api>& devices, const section_plan& section, const exchange_step& what,
                  const std::vector<std::byte*>& from, const std::vector<std::byte*>& to, const run_state& how)
      : operands(devices, section, what, from, to), owner(of), state(how) {}

  bool is_captured() const { return state.is_captured(); }

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
    if (state.is_captured()) state.noted->add(name_of(step.kind), step.axes.bits, bytes);
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
      for (const auto& group : groups) shared_gpu_exchange<Api>(*this).run(group);
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
  using operands = exchange_operands<Api>;
  using operands::all, operands::plan, operands::step, operands::partners, operands::type, operands::bytes;
  using operands::device_at, operands::source, operands::result, operands::take_slice, operands::put_slice;
  using operands::outer, operands::inner, operands::inner_bytes, operands::fill_zero;

  backend<Api>& owner;
  const run_state& state;
  std::vector<std::vector<int>> groups; ///< places, by group and rank; groups with members here
  std::vector<clique<Api>*> cliques;    ///< by group
  std::uint64_t number = 0;             ///< among those with members in other processes; 0 for others
  bool rearranged = false;
  recycled_vector<buffer> arranged;             ///< by position: what NCCL reads or writes, if its order is another
  std::vector<gathered_operands<Api>> gathered; ///< by position: operands to combine in the host's order

  bool runs_at(int position) const { return state.runs_at(position); }
  bool gathers() const { return step.kind == exchange_kind::all_gather; }
  bool scatters() const { return step.kind == exchange_kind::reduce_scatter; }
  bool crosses() const { return exchange_crosses(all, step); }
  bool in_tree() const { return is_gathered(step.kind, type, owner.options.deterministic); }
  std::byte* aside(int position) const { return address_of<Api>(arranged[index_of(position)]); }

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

  /// In a group of one, every collective is a copy, except for a permutation in which nobody sends.
  void run_alone(int p) {
    if (step.kind == exchange_kind::permute && partners.source_of(0, 1) < 0) fill_zero(p);
    else if (result(p) != source(p)) copy_across<Api>(device_at(p), result(p), device_at(p), source(p), bytes);
  }

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
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
