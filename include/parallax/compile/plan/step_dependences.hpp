// Which steps of a section have to keep their order.
#pragma once

#include <parallax/compile/plan/match_kernel.hpp>
#include <parallax/compile/plan/start_early.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Answers for the steps and buffers that the section has when this object is made.
class step_dependences {
 public:
  constexpr step_dependences(dim_table& table, const plan_builder& records, const planned_section& of)
      : extents(table), plan(records), section(of), touched_by(section.buffers.size()) {
    for (int s = 0; s < count_of(section.steps); ++s)
      visit_buffers(plan, section.steps[index_of(s)], [&](buffer_id used) { touched_by[used].push_back(step_id{s}); });
  }

  /// The only step besides `maker` that uses `result`, a slot's buffer; `none` if there is no such step, or several.
  constexpr step_id only_reader(buffer_id result, step_id maker) const {
    if (section.buffers[result].record.kind != buffer_kind::slot) return step_id::none;
    step_id reader = step_id::none;
    for (step_id other : touched_by[result]) {
      if (other == maker || other == reader) continue;
      if (reader != step_id::none) return step_id::none;
      reader = other;
    }
    return reader;
  }
  constexpr bool touches(step_id s, buffer_id used) const { return detail::touches(plan, step(s), used); }
  /// Whether a loop and another step have to keep their order.
  constexpr bool keep_order(step_id loop, step_id other) const {
    bool found_one = runs_sections(step(other).kind);
    visit_buffers(plan, step(loop), [&](buffer_id used) {
      found_one = found_one || (touches(other, used) && (may_write(other, used) || may_write(loop, used)));
    });
    return found_one;
  }

 private:
  dim_table& extents;
  const plan_builder& plan;
  const planned_section& section;
  table<buffer_id, growing_vector<step_id>> touched_by;

  constexpr step_record step(step_id s) const { return section.steps[index_of(s)]; }

  /// Whether a step may write a buffer that it touches; a loop with several results may write any.
  constexpr bool may_write(step_id s, buffer_id used) const {
    switch (step(s).kind) {
    case step_kind::kernel: {
      const kernel_match loop(extents, plan, step(s));
      return loop.written().buffer == used || (loop.stores() && touches(s, used));
    }
    case step_kind::product: return plan.at<product_step>(step(s).index).result == used;
    case step_kind::exchange: return plan.at<exchange_step>(step(s).index).result == used;
    case step_kind::axis_slice: return plan.at<axis_slice_step>(step(s).index).result == used;
    case step_kind::epilogue:
    case step_kind::accumulation:
    case step_kind::placed_product:
    case step_kind::launch_batch:
    case step_kind::mapped_section:
    case step_kind::scan:
    case step_kind::while_loop:
    case step_kind::cond:
    case step_kind::ffi: break;
    }
    return touches(s, used);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
