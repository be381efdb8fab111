// Results that may take over the memory of an operand at its last read, element by element or by an all-reduce.
#pragma once

#include <parallax/compile/plan/plan.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Answers for a section whose buffers have known lifetimes.
class in_place_finder {
 public:
  constexpr in_place_finder(const plan_builder& records, const planned_section& of) : plan(records), section(of) {}

  /// The operand of step `s` whose memory the result `id` may take; `none` if there is no such operand. `is_taken` says
  /// whether another result has taken a buffer's memory already.
  template <class Taken> constexpr buffer_id taken_by(buffer_id id, int s, const Taken& is_taken) const {
    if (step(s).kind == step_kind::exchange) {
      const buffer_id operand = reduced_into(id, s);
      const bool may = operand != buffer_id::none && section.buffers[operand].record.kind == buffer_kind::slot;
      return may && !is_taken(operand) ? operand : buffer_id::none;
    }
    const step_record own = part_of(id, step(s));
    if (own.kind == step_kind::kernel) {
      const kernel_step& loop = loop_of(own);
      for (const operand_record& o : plan[loop.operands].subspan(1))
        if (may_take(loop, o.buffer, id, s) && section.buffers[o.buffer].first_step < s &&
            parts_with(o.buffer, step(s)) == 1 && !is_taken(o.buffer))
          return o.buffer;
    }
    const plain_span<const step_record> parts = parts_from_product(step(s));
    if (parts.empty() || parts[1].kind != step_kind::kernel) return buffer_id::none;
    // A library may do all parts at once. Then only two buffers may share the loop's result: the base of an
    // accumulation, unless it is also a factor, and the product's own result.
    if (step(s).kind == step_kind::accumulation) {
      const buffer_id base = plan.at<accumulation_step>(step(s).index).base;
      if (may_take(loop_of(parts[1]), base, id, s) && section.buffers[base].first_step < s && !is_taken(base) &&
          !touches(plan, parts[0], base))
        return base;
    }
    const buffer_id product = result_of_product(parts);
    const bool may = may_take(loop_of(parts[1]), product, id, s) && !is_taken(product);
    return may ? product : buffer_id::none;
  }
  /// The output that may reuse a slot buffer's memory: the loop or all-reduce that writes it reads the buffer for the
  /// last time. `none` if there is no such output.
  constexpr buffer_id output_behind(buffer_id id) const {
    const planned_buffer& b = section.buffers[id];
    for (int s = b.first_step; s <= b.last_step; ++s) {
      if (step(s).kind != step_kind::exchange || exchange_at(s).source != id) continue;
      const buffer_id result = exchange_at(s).result;
      const bool may = section.buffers[result].record.kind == buffer_kind::output && replaces_operand(s);
      return may ? result : buffer_id::none;
    }
    const step_record last = step(b.last_step);
    if (last.kind == step_kind::kernel) return written_over(loop_of(last), id);
    if (last.kind == step_kind::launch_batch && parts_with(id, last) == 1) {
      for (const step_record& part : plan[plan.at<launch_batch_step>(last.index).parts])
        if (touches(plan, part, id)) return written_over(loop_of(part), id);
    }
    const plain_span<const step_record> parts = parts_from_product(last);
    if (parts.empty()) return buffer_id::none;
    buffer_id found = buffer_id::none;
    int users = id == result_of_product(parts) ? -1 : 0;
    for (const step_record& part : parts) {
      if (!touches(plan, part, id)) continue;
      ++users;
      found = part.kind == step_kind::kernel ? written_over(loop_of(part), id) : buffer_id::none;
    }
    return users == 1 ? found : buffer_id::none;
  }

 private:
  const plan_builder& plan;
  const planned_section& section;

  constexpr step_record step(int s) const { return section.steps[index_of(s)]; }
  constexpr const exchange_step& exchange_at(int s) const { return plan.at<exchange_step>(step(s).index); }
  constexpr const kernel_step& loop_of(step_record of) const { return plan.at<kernel_step>(of.index); }

  /// The operand that `result` replaces, if one of the exchanges that follow each other from step `s` on is an
  /// all-reduce with this result; otherwise `none`.
  constexpr buffer_id reduced_into(buffer_id result, int s) const {
    for (; s < count_of(section.steps) && step(s).kind == step_kind::exchange; ++s)
      if (exchange_at(s).result == result) return replaces_operand(s) ? exchange_at(s).source : buffer_id::none;
    return buffer_id::none;
  }
  /// Whether step `s` is an all-reduce whose result may replace its operand: no other step that may run at that time or
  /// later touches the operand. Exchanges that follow each other may run together; one of them may have made the
  /// operand, since step `s` waits for it.
  constexpr bool replaces_operand(int s) const {
    const exchange_step& own = exchange_at(s);
    const planned_buffer &old = section.buffers[own.source], &made = section.buffers[own.result];
    if (own.kind != exchange_kind::all_reduce || !are_alike(old.record, made.record)) return false;
    for (int other = made.first_step; other <= old.last_step; ++other) {
      const bool is_maker =
          other < s && step(other).kind == step_kind::exchange && exchange_at(other).result == own.source;
      if (other != s && !is_maker && touches(plan, step(other), own.source)) return false;
    }
    return true;
  }

  /// The part of a batch of launches that computes `result`; any other step itself.
  constexpr step_record part_of(buffer_id result, step_record whole) const {
    if (whole.kind == step_kind::launch_batch)
      for (const step_record& part : plan[plan.at<launch_batch_step>(whole.index).parts])
        if (plan[loop_of(part).operands][0].buffer == result) return part;
    return whole;
  }
  /// How many parts of a batch of launches use a buffer; 1 for other steps.
  constexpr int parts_with(buffer_id used, step_record whole) const {
    if (whole.kind != step_kind::launch_batch) return 1;
    int parts = 0;
    for (const step_record& part : plan[plan.at<launch_batch_step>(whole.index).parts])
      parts += touches(plan, part, used) ? 1 : 0;
    return parts;
  }
  /// The parts of a step that begin with a product; none for other steps.
  constexpr plain_span<const step_record> parts_from_product(step_record whole) const {
    switch (whole.kind) {
    case step_kind::epilogue: return plan[plan.at<epilogue_step>(whole.index).parts];
    case step_kind::accumulation: return plan[plan.at<accumulation_step>(whole.index).parts];
    case step_kind::placed_product: return plan[plan.at<placed_product_step>(whole.index).parts];
    case step_kind::kernel:
    case step_kind::product:
    case step_kind::launch_batch:
    case step_kind::exchange:
    case step_kind::axis_slice:
    case step_kind::mapped_section:
    case step_kind::scan:
    case step_kind::while_loop:
    case step_kind::cond:
    case step_kind::ffi: break;
    }
    return {};
  }
  /// The buffer of the product that parts begin with, if only the first part behind it uses it; otherwise `none`.
  constexpr buffer_id result_of_product(plain_span<const step_record> parts) const {
    if (parts[0].kind == step_kind::epilogue) return result_of_product(parts_from_product(parts[0]));
    const buffer_id result = plan.at<product_step>(parts[0].index).result;
    for (const step_record& later : parts.subspan(2))
      if (touches(plan, later, result)) return buffer_id::none;
    return result;
  }
  /// Whether a loop of step `s` may write its only result over `operand`: a slot's buffer that no later step reads, and
  /// that the loop reads at the positions that it writes.
  constexpr bool may_take(const kernel_step& loop, buffer_id operand, buffer_id result, int s) const {
    if (operand == buffer_id::none || operand == result) return false;
    const planned_buffer &old = section.buffers[operand], &made = section.buffers[result];
    const bool dies = old.record.kind == buffer_kind::slot && old.last_step == s;
    return dies && are_alike(old.record, made.record) && made.first_step == s &&
           plan[loop.operands][0].buffer == result && lies_alike(loop, operand) && writes_one_result(loop);
  }
  static constexpr bool are_alike(const buffer_record& a, const buffer_record& b) {
    return a.count == b.count && size_of(a.type) == size_of(b.type);
  }
  /// The output that a loop is the first to write, if it may be written over `read`, whose last step this is; otherwise
  /// `none`.
  constexpr buffer_id written_over(const kernel_step& loop, buffer_id read) const {
    const buffer_id result = plan[loop.operands][0].buffer;
    if (result == buffer_id::none) return buffer_id::none; // what it makes of rows is nowhere in memory
    const planned_buffer& made = section.buffers[result];
    const bool may = made.record.kind == buffer_kind::output && made.first_step == section.buffers[read].last_step &&
                     are_alike(section.buffers[read].record, made.record) && writes_one_result(loop) &&
                     lies_alike(loop, read);
    return may ? result : buffer_id::none;
  }
  constexpr bool writes_one_result(const kernel_step& loop) const {
    const kernel_record& kernel = plan.at<kernel_record>(static_cast<int>(loop.kernel));
    if (kernel.result != kernel_result::vector) return false;
    for (const kernel_statement& each : plan[kernel.statements]) // long, and no call of a lambda for each
      if (stores_or_indexes(each.kind)) return false;
    return true;
  }
  /// Whether a loop reads each element of a buffer at the position where it writes the result.
  constexpr bool lies_alike(const kernel_step& loop, buffer_id read) const {
    const plain_span<const operand_record> operands = plan[loop.operands];
    return plain::all_of(operands, [&](const operand_record& each) {
      return each.buffer != read ||
             (each.offset == operands[0].offset && plain::equal(plan[each.strides], plan[operands[0].strides]));
    });
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
