// Products whose results are only added to something, scaled or not: an update of parameters, a residual, a sum of
// gradients.
#pragma once

#include <parallax/compile/plan/match_kernel.hpp>
#include <parallax/compile/plan/start_early.hpp>
#include <parallax/compile/plan/step_dependences.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>

#include <bit>
#include <optional>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Makes a product, perhaps with sums of its right operand, and the loop that adds it to a base, its only reader, one
/// step of kind `accumulation`. The loop is moved to the product: a library adds as it multiplies.
class accumulation_finder {
 public:
  constexpr accumulation_finder(dim_table& table, plan_builder& records, planned_section& of)
      : extents(table), plan(records), section(of), dependences(table, records, of), found(count()), moved(count()) {}

  constexpr void run() {
    bool any = false;
    for (int s = 0; s < count(); ++s) any = find(step_id{s}) || any;
    if (any) gather();
  }

 private:
  struct candidate {
    step_id loop = step_id::none;
    accumulation_step whole;
  };

  dim_table& extents;
  plan_builder& plan;
  planned_section& section;
  step_dependences dependences;
  table<step_id, candidate> found; ///< by the product's step
  id_set<step_id> moved;           ///< loops that are parts of others

  constexpr int count() const { return count_of(section.steps); }
  constexpr step_record step(step_id s) const { return section.steps[index_of(s)]; }
  constexpr const buffer_record& buffer(buffer_id id) const { return section.buffers[id].record; }

  /// The product of a step that computes it alone, or with sums of its right operand; null for other steps.
  constexpr const product_step* product_of(step_id s) const {
    if (step(s).kind == step_kind::product) return &plan.at<product_step>(step(s).index);
    if (step(s).kind != step_kind::epilogue) return nullptr;
    const epilogue_step& e = plan.at<epilogue_step>(step(s).index);
    return e.sums_right ? &plan.at<product_step>(plan[e.parts][0].index) : nullptr;
  }

  constexpr bool find(step_id s) {
    const product_step* const product = product_of(s);
    if (product == nullptr || !is_inexact(buffer(product->result).type)) return false;
    const step_id loop = dependences.only_reader(product->result, s);
    if (loop == step_id::none || loop < s || step(loop).kind != step_kind::kernel) return false;
    const std::optional<accumulation_step> sum = sum_of(kernel_match(extents, plan, step(loop)), product->result);
    if (!sum || !may_move(loop, s, *sum)) return false;
    found[s] = {loop, *sum};
    moved.insert(loop);
    return true;
  }

  /// The step `base + scale * product`, if the loop computes nothing else.
  constexpr std::optional<accumulation_step> sum_of(const kernel_match& m, buffer_id product) const {
    const int sum = m.result();
    const bool adds = m.is<primitives::add>(sum), subtracts = m.is<primitives::subtract>(sum);
    if ((!adds && !subtracts) || m.stores()) return std::nullopt;
    if (!m.is_whole(m.written()) || !m.covers(buffer(product).count)) return std::nullopt;
    for (int side = subtracts ? 1 : 0; side < 2; ++side) {
      accumulation_step e{.result = m.written().buffer, .base = m.load_of_whole(m.operand(sum, 1 - side))};
      const bool has_base = e.base != buffer_id::none && e.base != product;
      if (has_base && are_of_one_type(product, e) &&
          take_scaled(m, m.operand(sum, side), subtracts ? -1 : 1, product, e))
        return e;
    }
    return std::nullopt;
  }
  constexpr bool are_of_one_type(buffer_id product, const accumulation_step& e) const {
    return buffer(e.base).type == buffer(product).type && buffer(e.result).type == buffer(product).type;
  }
  /// Whether a statement is the product, multiplied by constants.
  constexpr bool take_scaled(const kernel_match& m, int statement, double scale, buffer_id product,
                             accumulation_step& e) const {
    while (m.load_of_whole(statement) != product) {
      if (m.is<primitives::negative>(statement)) {
        scale = -scale;
        statement = m.operand(statement, 0);
        continue;
      }
      if (!m.is<primitives::multiply>(statement)) return false;
      const int side = m.number(m.operand(statement, 0)) ? 0 : 1;
      const std::optional<double> number = m.number(m.operand(statement, side));
      if (!number) return false;
      scale *= *number;
      statement = m.operand(statement, 1 - side);
    }
    e.scale_bits = std::bit_cast<std::int64_t>(scale);
    return static_cast<float>(scale) != 0; // 0 * infinity is NaN, but libraries skip the product
  }

  /// Whether a loop may run directly behind step `s`. If its base is an argument, neither `s` nor a step in between may
  /// touch that: then the result may take the argument's memory if it is donated.
  constexpr bool may_move(step_id loop, step_id s, const accumulation_step& e) const {
    const bool adds_to_argument = buffer(e.base).kind == buffer_kind::bound;
    for (int k = static_cast<int>(s); k < static_cast<int>(loop); ++k) {
      const step_id between{k};
      if (adds_to_argument && dependences.touches(between, e.base)) return false;
      if (between == s) continue;
      if (dependences.keep_order(loop, between)) return false;
      if (found[between].loop != step_id::none && dependences.keep_order(loop, found[between].loop)) return false;
    }
    return true;
  }

  constexpr void gather() {
    growing_vector<step_record> steps;
    for_each(found.ids(), [&](step_id s) {
      if (moved.contains(s)) return;
      if (found[s].loop == step_id::none) return steps.push_back(step(s));
      accumulation_step whole = found[s].whole;
      growing_vector<step_record> parts{step(s), step(found[s].loop)};
      whole.parts = plan.add_list(parts);
      steps.push_back({step_kind::accumulation, plan.add(whole)});
    });
    section.steps = std::move(steps);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
