// Sums and extremes over the members of several processes. All operands are combined in the order of a balanced tree
// over the members, so that the result does not depend on which process has which member.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/collectives.hpp>
#include <parallax/host/devices/process_members.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/processes/tree_order.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

class process_reduction : process_members {
 public:
  using process_members::process_members;

  /// Every member gets the combination of all operands.
  void all_reduce() const {
    if (process_count() == 1) {
      buffer result = buffer::allocate(request.bytes);
      combine_own(result.data(), group.root(), 0, count());
      return give(result.data());
    }
    if (request.bytes > tiny_bytes) all_reduce_in_chunks();
    else if (process_count() > few_processes && are_pairs()) all_reduce_in_pairs();
    else all_reduce_tiny();
  }

  /// Every member gets the combination of its own slices of all operands.
  void reduce_scatter() const {
    const std::size_t bytes = request.outer * request.inner_bytes, own_nodes = group.own().nodes.size();
    const auto send = [&](std::byte* to, int receiver) {
      for (node each : group.own().nodes) {
        combine_slice(to, each, receiver);
        to += bytes;
      }
      return to;
    };
    const std::size_t members_here = group.own().slots.size();
    processes::mail letters = mail();
    std::vector<const std::byte*> from_process(process_count());
    for_each_other([&](std::size_t place, const share& other) {
      std::byte* to = letters.to(other.process, other.slots.size() * own_nodes * bytes);
      for (int slot : other.slots) to = send(to, slot);
      from_process[place] = letters.from(other.process, members_here * other.nodes.size() * bytes);
    });
    buffer partial = buffer::allocate(members_here * own_nodes * bytes);
    from_process[own_place()] = partial.data();
    std::byte* to = partial.data();
    for (int slot : group.own().slots) to = send(to, slot);
    letters.deliver();
    for (std::size_t k = 0; k < members_here; ++k) {
      node_values values;
      for (std::size_t place = 0; place < process_count(); ++place) {
        const std::vector<node>& nodes = group.of_processes()[place].nodes;
        values.add(nodes, from_process[place] + k * nodes.size() * bytes, bytes);
      }
      combine_node(output(group.own().slots[k]), group.root(), bytes / size_of(request.type), values);
    }
  }

 private:
  using node = processes::tree_node;

  /// Up to this size every process gets all partial sums, and adds them up itself.
  static constexpr std::size_t tiny_bytes = 65536;
  /// The most processes that do so all together; more of them do so in pairs.
  static constexpr std::size_t few_processes = 4;

  std::size_t count() const { return request.bytes / size_of(request.type); }

  /// The addresses of the values of nodes, which all have the same size.
  struct node_values {
    runtime::recycled_vector<std::pair<node, const std::byte*>> known;

    void add(const std::vector<node>& nodes, const std::byte* first, std::size_t bytes) {
      for (node each : nodes) {
        known.push_back({each, first});
        first += bytes;
      }
    }
    const std::byte* operator()(node wanted) const {
      for (const auto& [of, value] : known)
        if (of == wanted) return value;
      return nullptr;
    }
  };

  /// Combines `elements` elements of the operands below a node into `target`, block by block. `value_of(node)` is the
  /// address of a node's elements; null if the node's value is not known.
  template <class ValueOf>
  void combine_node(std::byte* target, node whole, std::size_t elements, const ValueOf& value_of) const {
    block_arithmetic on(request.reduction, request.type);
    for (std::size_t begin = 0; begin < elements;) {
      on.width = std::min(elements - begin, reduction_block_bytes / on.element);
      const auto value = [&](node below) {
        return on.below(below, on.width, [&](node each) {
          const std::byte* const first = value_of(each);
          return first == nullptr ? nullptr : first + begin * on.element;
        });
      };
      processes::combine_tree(target + begin * on.element, whole, value, on);
      begin += on.width;
    }
  }
  /// As `combine_node`, of this process' own operands, from byte `skipped` of each on.
  void combine_own(std::byte* target, node whole, std::size_t skipped, std::size_t elements) const {
    combine_node(target, whole, elements, [&](node below) -> const std::byte* {
      return below.count == 1 ? input(below.first) + skipped : nullptr;
    });
  }
  /// As `combine_own`, of the slices for one member.
  void combine_slice(std::byte* target, node whole, int receiver) const {
    block_arithmetic on(request.reduction, request.type);
    const std::size_t inner = request.inner_bytes, stride = inner * index_of(group.size());
    const std::size_t skipped = inner * index_of(receiver), most = reduction_block_bytes / on.element * on.element;
    for (std::size_t row = 0; row < request.outer; ++row)
      for (std::size_t column = 0; column < inner; column += most) {
        on.width = std::min(inner - column, most) / on.element;
        const auto value = [&](node below) {
          return on.below(below, on.width, [&](node each) {
            return each.count == 1 ? input(each.first) + row * stride + skipped + column : nullptr;
          });
        };
        processes::combine_tree(target + row * inner + column, whole, value, on);
      }
  }
  void give(const std::byte* result) const {
    for (int slot : group.own().slots) copy(output(slot), result, request.bytes);
  }

  void all_reduce_tiny() const {
    const std::vector<node>& own = group.own().nodes;
    const std::size_t bytes = request.bytes;
    processes::mail letters = mail();
    node_values values;
    std::byte* partial = nullptr;
    for_each_other([&](std::size_t, const share& other) {
      if (partial != nullptr) {
        letters.same_to(other.process);
      } else {
        partial = letters.to(other.process, own.size() * bytes);
        for (std::size_t k = 0; k < own.size(); ++k) combine_own(partial + k * bytes, own[k], 0, count());
        values.add(own, partial, bytes);
      }
      values.add(other.nodes, letters.from(other.process, other.nodes.size() * bytes), bytes);
    });
    letters.deliver();
    std::byte* const result = output(group.own().slots[0]);
    combine_node(result, group.root(), count(), values);
    for (int slot : group.own().slots)
      if (output(slot) != result) copy(output(slot), result, bytes);
  }

  /// Whether each process has one node, and these are the leaves of the same tree over processes.
  bool are_pairs() const {
    const std::vector<share>& shares = group.of_processes();
    const int each = shares[0].nodes[0].count;
    for (std::size_t place = 0; place < shares.size(); ++place) {
      const std::vector<node>& nodes = shares[place].nodes;
      if (nodes.size() != 1 || nodes[0].first != static_cast<int>(place) * each || nodes[0].count > each) return false;
      if (nodes[0].count != each && place + 1 < shares.size()) return false;
    }
    return std::has_single_bit(static_cast<unsigned>(each));
  }
  /// A butterfly: in each round two neighbouring blocks of `width` processes add their sums. The last block may be
  /// smaller; its processes send to several.
  void all_reduce_in_pairs() const {
    const std::size_t bytes = request.bytes;
    const auto total = static_cast<int>(process_count()), me = group.own_place();
    const auto process_at = [&](int place) { return group.of_processes()[index_of(place)].process; };
    buffer sum = buffer::allocate(bytes), both = buffer::allocate(bytes);
    combine_own(sum.data(), group.own().nodes[0], 0, count());
    for (int width = 1; width < total; width *= 2) {
      const int first = me / width * width, sibling = first ^ width;
      if (sibling >= total) continue;
      const int size = std::min(width, total - first), other_size = std::min(width, total - sibling);
      processes::mail letters = mail(static_cast<std::uint64_t>(width));
      for (int k = 0; k < other_size; ++k)
        if (first + k % size == me) copy(letters.to(process_at(sibling + k), bytes), sum.data(), bytes);
      const std::byte* other = letters.from(process_at(sibling + (me - first) % other_size), bytes);
      letters.deliver();
      const bool is_left = first < sibling;
      combine_node(both.data(), {0, 2}, count(), [&](node each) -> const std::byte* {
        if (each.count == 2) return nullptr;
        return (each.first == 0) == is_left ? sum.data() : other;
      });
      std::swap(sum, both);
    }
    give(sum.data());
  }

  /// Each process adds up one chunk of all operands, and sends the sum to all processes.
  void all_reduce_in_chunks() const {
    const std::size_t element = size_of(request.type), total = count(), holders = process_count();
    const std::size_t line = 64 / element, chunk = ((total + holders - 1) / holders + line - 1) / line * line;
    const auto begin_of = [&](std::size_t place) { return std::min(total, chunk * place) * element; };
    const auto bytes_of = [&](std::size_t place) { return begin_of(place + 1) - begin_of(place); };
    const std::size_t own = own_place(), mine = bytes_of(own);
    const std::vector<int>& slots = group.own().slots;
    const std::vector<node>& nodes = group.own().nodes;

    processes::mail partials = mail();
    node_values values;
    for_each_other([&](std::size_t place, const share& other) {
      const std::size_t bytes = bytes_of(place);
      if (slots.size() == 1) {
        partials.lend_to(other.process, input(slots[0]) + begin_of(place), bytes);
      } else {
        std::byte* to = partials.to(other.process, nodes.size() * bytes);
        for (node each : nodes) {
          combine_own(to, each, begin_of(place), bytes / element);
          to += bytes;
        }
      }
      values.add(other.nodes, partials.from(other.process, other.nodes.size() * mine), mine);
    });
    partials.deliver();

    std::byte* const result = output(slots[0]);
    const auto sum_up = [&](std::byte* target) {
      combine_node(target, group.root(), mine / element, [&](node each) -> const std::byte* {
        if (each.count == 1 && group.is_own(each.first)) return input(each.first) + begin_of(own);
        return values(each);
      });
    };
    if (std::any_of(slots.begin(), slots.end(), [&](int slot) { return input(slot) == result; })) {
      // the result lies in an operand's memory
      buffer sum = buffer::allocate(mine);
      sum_up(sum.data());
      copy(result + begin_of(own), sum.data(), mine);
    } else {
      sum_up(result + begin_of(own));
    }
    processes::mail sums = mail(1);
    std::vector<const std::byte*> chunks(holders);
    for_each_other([&](std::size_t place, const share& other) {
      sums.lend_to(other.process, result + begin_of(own), mine);
      chunks[place] = sums.from(other.process, bytes_of(place), result + begin_of(place));
    });
    sums.deliver();
    for_each_other([&](std::size_t place, const share&) {
      if (chunks[place] != result + begin_of(place)) copy(result + begin_of(place), chunks[place], bytes_of(place));
    });
    for (int slot : slots)
      if (output(slot) != result) copy(output(slot), result, request.bytes);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
