// One section of a program for a call: its buffers, outputs and steps, with the call's extents.
#pragma once

#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/kernel_arguments.hpp>
#include <parallax/runtime/checked_sizes.hpp>
#include <parallax/runtime/resolve.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

class section_plan {
 public:
  const plan_view& plan;
  const resolved_extents& extents;
  const section_record& section;

  section_plan(const plan_view& all, section_id id, const resolved_extents& resolved)
      : plan(all), extents(resolved), section(all.section(id)) {}

  /// The sizes of the mesh that the section runs on; none for the main one.
  recycled_vector<std::int64_t> mesh() const {
    recycled_vector<std::int64_t> sizes;
    for (dim size : plan[section.mesh]) sizes.push_back(extents[size]);
    return sizes;
  }

  plain_span<const buffer_record> buffers() const { return plan[section.buffers]; }
  plain_span<const output_record> outputs() const { return plan[section.outputs]; }
  plain_span<const step_record> steps() const { return plan[section.steps]; }

  const buffer_record& buffer_at(buffer_id id) const { return buffers()[index_of(id)]; }
  element_type type_of(buffer_id id) const { return buffer_at(id).type; }
  std::size_t bytes_of(const buffer_record& buffer) const { return checked_bytes(extents[buffer.count], buffer.type); }
  std::size_t bytes_of(buffer_id id) const { return bytes_of(buffer_at(id)); }

  /// Sets `offsets`: where each slot begins in the arena that they share, and behind them the arena's size,
  /// `slot_count` + 1 numbers. Throws `out_of_memory` if the size cannot be counted. `lies_elsewhere(buffer)` says
  /// whether a slot's buffer needs no room in the arena.
  template <class Offsets, class LiesElsewhere>
  void plan_slots(Offsets& offsets, const LiesElsewhere& lies_elsewhere) const {
    constexpr auto alignment = static_cast<std::size_t>(slot_alignment);
    std::fill(offsets.begin(), offsets.end(), std::size_t{0});
    for (const buffer_record& buffer : buffers()) {
      if (buffer.kind != buffer_kind::slot || lies_elsewhere(buffer)) continue;
      std::size_t& size = offsets[index_of(buffer.number) + 1];
      const std::size_t end = checked_sum(index_of(buffer.offset), bytes_of(buffer));
      size = std::max(size, (end + alignment - 1) / alignment * alignment);
    }
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] = checked_sum(offsets[i - 1], offsets[i]);
  }

  template <class Offsets> void plan_slots(Offsets& offsets) const {
    plan_slots(offsets, [](const buffer_record&) { return false; });
  }

  /// The offset of a slot's buffer in the arena, whose slots begin at `slots`.
  template <class Offsets> static std::size_t place_of(const buffer_record& buffer, const Offsets& slots) {
    return slots[index_of(buffer.number)] + index_of(buffer.offset);
  }

  /// Fills in a kernel's arguments, of the backend's type `Arguments`. `data_of` gives a buffer's first byte,
  /// `axis_index_of` the index along a mesh axis. Throws `shape_error` for a loop that cannot be counted. A loop that
  /// reads an array without elements, which has no effect, reads at `nothing`.
  template <class Arguments, class Operand, class Data, class AxisIndex>
  void fill(const kernel_step& step, Arguments& a, Operand* operands, constant_bits* constants, std::byte* nothing,
            const Data& data_of, const AxisIndex& axis_index_of) const {
    a.reduced = step.reduced.bits;
    a.rank = step.extents.count;
    resolve(step.extents, a.extents);
    check_loop(a.extents, a.rank);
    a.operand_count = 0;
    for (const operand_record& from : plan[step.operands]) {
      Operand& o = operands[a.operand_count++];
      const std::int64_t offset = extents[from.offset];
      const bool is_index = from.buffer == buffer_id::none;
      o.start = is_index ? offset : 0;
      o.element_bytes = is_index ? 1 : static_cast<std::int64_t>(size_of(type_of(from.buffer)));
      o.data = is_index ? nullptr : byte_at(data_of(from.buffer), offset * o.element_bytes);
      resolve(from.strides, o.strides);
      if (is_index || extents[buffer_at(from.buffer).count] != 0) continue;
      o.data = nothing;
      std::fill_n(o.strides, a.rank, 0);
    }
    a.operands = operands;
    a.constant_count = 0;
    for (const kernel_constant& constant : plan[step.constants])
      constants[a.constant_count++] = constant_of(constant, [&](dim extent) { return extents[extent]; }, axis_index_of);
    a.constants = constants;
  }

  /// The values of a list of extents, at most `max_rank`.
  small_vector<std::int64_t, max_rank> resolved(record_list<dim> list) const {
    small_vector<std::int64_t, max_rank> values;
    values.count = list.count;
    resolve(list, values.data());
    return values;
  }
  void resolve(record_list<dim> list, std::int64_t* values) const {
    for (dim extent : plan[list]) *values++ = extents[extent];
  }
};

/// Who an instance meets in an exchange, and from whom it receives.
class exchange_partners {
 public:
  exchange_partners(const plan_view& all, const exchange_step& what) : plan(all), step(what) {}

  /// The group of an instance: the indices, along the axes, of the instances that the one at `here` meets, itself among
  /// them, in the group's order. Empty if instances are not cut into groups.
  plain_span<const int> group_of(int here) const {
    for (const group_record& group : plan[step.groups])
      if (plain::contains(plan[group.members], here)) return plan[group.members];
    return {};
  }

  /// The index that the one at `here` receives from, in a permutation of `size` instances; -1 for none.
  int source_of(int here, int size) const {
    switch (step.how) {
    case permutation_kind::rotation: return static_cast<int>(((here - step.distance) % size + size) % size);
    case permutation_kind::shift: {
      const std::int64_t from = here - step.distance;
      return from >= 0 && from < size ? static_cast<int>(from) : -1;
    }
    case permutation_kind::pairs: break;
    }
    const plain_span<const int> to = plan[step.destinations];
    const auto found = plain::find(to, here);
    return found == to.end() ? -1 : plan[step.sources][index_of(found - to.begin())];
  }

 private:
  const plan_view& plan;
  const exchange_step& step;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
