// Products whose library can do the loops behind them: bias, ReLU, GELU, their gradients, and sums for a bias'
// gradient.
#pragma once

#include <parallax/compile/plan/match_kernel.hpp>
#include <parallax/compile/plan/start_early.hpp>
#include <parallax/compile/plan/step_dependences.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>

#include <optional>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Puts products and such loops together as steps of kind `epilogue`, or of kind `placed_product`. The loops stay in
/// them: backends whose library knows no epilogues, and shapes that it does not take, run the parts one after another.
class epilogue_finder {
 public:
  constexpr epilogue_finder(dim_table& table, plan_builder& records, planned_section& of)
      : extents(table),
        plan(records),
        section(of),
        dependences(table, records, of),
        owner(count(), step_id::none),
        found(count()) {}

  constexpr void run() {
    for_each(owner.ids(), [&](step_id s) {
      if (is_candidate(s)) find_activation(s);
    });
    for_each(owner.ids(), [&](step_id s) {
      if (is_candidate(s)) find_gradient(s);
    });
    for_each(owner.ids(), [&](step_id s) {
      if (is_candidate(s)) find_sums(s);
    });
    for_each(owner.ids(), [&](step_id s) {
      if (step(s).kind == step_kind::product && found[s].loops.empty()) find_place(s);
    });
    gather();
  }

 private:
  struct candidate {
    epilogue_step epilogue;
    std::optional<placed_product_step> placed; ///< if it is that, and no epilogue
    growing_vector<step_id> loops;             ///< the steps that the product's call replaces, in order
  };

  dim_table& extents;
  plan_builder& plan;
  planned_section& section;
  step_dependences dependences;
  table<step_id, step_id> owner;   ///< the product that a step has become a part of
  table<step_id, candidate> found; ///< for products

  constexpr int count() const { return count_of(section.steps); }
  constexpr step_record step(step_id s) const { return section.steps[index_of(s)]; }
  constexpr const product_step& product(step_id s) const { return plan.at<product_step>(step(s).index); }
  constexpr const buffer_record& buffer(buffer_id id) const { return section.buffers[id].record; }
  constexpr kernel_match match(step_id s) const { return {extents, plan, step(s)}; }
  constexpr bool touches(step_id s, buffer_id used) const { return detail::touches(plan, step(s), used); }

  /// Whether libraries have epilogues for products of a type.
  static constexpr bool has_epilogues(element_type type) {
    switch (type) {
    case element_type::float16:
    case element_type::bfloat16:
    case element_type::float32: return true;
    case element_type::float64:
    case element_type::boolean:
    case element_type::uint8:
    case element_type::int32:
    case element_type::uint32:
    case element_type::int64:
    case element_type::uint64: return false;
    }
    return false;
  }
  /// Whether a step is a product of single matrices with more than one row and column, of a type that libraries have
  /// epilogues for.
  constexpr bool is_candidate(step_id s) const {
    if (step(s).kind != step_kind::product || !product(s).batch.empty()) return false;
    return has_epilogues(buffer(product(s).result).type) && !(product(s).rows == 1) && !(product(s).columns == 1);
  }
  constexpr bool is_loop(step_id s) const { return step(s).kind == step_kind::kernel && owner[s] == step_id::none; }

  /// The only step besides `s` that uses the product's result, if it is a loop and no part of a product yet; otherwise
  /// `none`.
  constexpr step_id only_reader(step_id s) const {
    const step_id reader = dependences.only_reader(product(s).result, s);
    return reader != step_id::none && is_loop(reader) ? reader : step_id::none;
  }

  /// Whether a loop may run directly behind the product and the loops that have joined it.
  constexpr bool may_join(step_id loop, step_id s) const {
    for (step_id between : owner.ids()) {
      if (between <= std::min(loop, s) || between >= std::max(loop, s) || owner[between] == s) continue;
      if (dependences.keep_order(loop, between)) return false;
      for (step_id part : found[between].loops) // they have moved to there
        if (dependences.keep_order(loop, part)) return false;
    }
    return true;
  }
  /// The only reader of the product, if it is an elementwise loop over the product's elements in order; otherwise
  /// `none`.
  constexpr step_id loop_of_result(step_id s) const {
    const step_id loop = only_reader(s);
    if (loop == step_id::none || loop < s || !may_join(loop, s)) return step_id::none;
    const kernel_match m = match(loop);
    const bool of_all = m.is_whole(m.written()) && m.covers(buffer(product(s).result).count);
    return m.result() != kernel_match::nothing && of_all ? loop : step_id::none;
  }
  constexpr void join(step_id loop, step_id s) {
    owner[loop] = s;
    found[s].loops.push_back(loop);
  }

  /// result + bias, and a function of it.
  constexpr void find_activation(step_id s) {
    const step_id loop = loop_of_result(s);
    if (loop == step_id::none) return;
    const kernel_match m = match(loop);
    int statement = m.result();
    epilogue_step e;
    e.result = m.written().buffer;
    if (m.is<primitives::relu>(statement)) e.activation = product_activation::relu;
    if (m.is<primitives::gelu>(statement)) e.activation = product_activation::gelu;
    if (e.activation != product_activation::identity) statement = m.operand(statement, 0);
    const int before = statement; // the activation
    if (m.is<primitives::add>(statement)) statement = take_bias(m, s, statement, e);
    if (m.load_of_whole(statement) != product(s).result) return;
    if (e.bias == buffer_id::none && e.activation == product_activation::identity) return;
    for (const kernel_statement& kept : m.statements()) {
      if (kept.kind != statement_kind::store_vector) continue;
      const operand_record& place = m.array(kept.argument);
      if (e.activation != product_activation::gelu || kept.operands[0] != before || !m.is_whole(place)) return;
      e.auxiliary = place.buffer;
    }
    found[s].epilogue = e;
    join(loop, s);
  }
  /// Takes the bias out of a sum, and returns the other operand; returns `sum` if neither operand is a bias.
  constexpr int take_bias(const kernel_match& m, step_id s, int sum, epilogue_step& e) const {
    for (int side = 0; side < 2; ++side) {
      const operand_record* bias = m.load_of_row(m.operand(sum, side), product(s).columns);
      const int other = m.operand(sum, 1 - side);
      if (bias == nullptr || bias->buffer == product(s).result || m.load_of_whole(other) == buffer_id::none) continue;
      e.bias = bias->buffer;
      e.bias_offset = bias->offset;
      return other;
    }
    return sum;
  }

  /// `result * derivative`, if the result or operand of the differentiated function lies in memory, and the sum of its
  /// rows.
  constexpr void find_gradient(step_id s) {
    if (!found[s].loops.empty()) return;
    const step_id loop = loop_of_result(s);
    if (loop == step_id::none || match(loop).stores()) return;
    const kernel_match m = match(loop);
    epilogue_step e;
    e.result = m.written().buffer;
    if (!take_relu_gradient(m, s, e) && !take_gelu_gradient(m, s, e)) return;
    found[s].epilogue = e;
    join(loop, s);
    join_sums(s, e.result, product(s).rows, product(s).columns);
  }
  /// select(y > 0, result, 0)
  constexpr bool take_relu_gradient(const kernel_match& m, step_id s, epilogue_step& e) {
    const int last = m.result(), condition = m.operand(last, 0);
    if (!m.is<primitives::select>(last) || !m.is<primitives::greater>(condition)) return false;
    if (!m.is_zero(m.operand(condition, 1)) || !m.is_zero(m.operand(last, 2))) return false;
    if (m.load_of_whole(m.operand(last, 1)) != product(s).result) return false;
    const step_id made_by = maker_of(m.load_of_whole(m.operand(condition, 0)));
    // signs are stored by rows, so both products need the same shape
    if (made_by == step_id::none || !(product(made_by).rows == product(s).rows) ||
        !(product(made_by).columns == product(s).columns))
      return false;
    e.activation = product_activation::relu_gradient;
    e.auxiliary = signs_of(made_by);
    return true;
  }
  constexpr bool take_gelu_gradient(const kernel_match& m, step_id s, epilogue_step& e) const {
    const int last = m.result();
    if (!m.is<primitives::multiply>(last)) return false;
    for (int side = 0; side < 2; ++side) {
      const int derivative = m.operand(last, side);
      if (!m.is<primitives::gelu_derivative>(derivative) ||
          m.load_of_whole(m.operand(last, 1 - side)) != product(s).result)
        continue;
      e.activation = product_activation::gelu_gradient;
      e.auxiliary = m.load_of_whole(m.operand(derivative, 0));
    }
    return e.auxiliary != buffer_id::none && e.auxiliary != product(s).result;
  }
  /// The product whose epilogue is a relu with this result; `none` if there is no such product.
  constexpr step_id maker_of(buffer_id result) const {
    if (result == buffer_id::none) return step_id::none;
    for (step_id s : found.ids())
      if (found[s].epilogue.activation == product_activation::relu && found[s].epilogue.result == result) return s;
    return step_id::none;
  }
  /// The signs that a relu leaves for its gradient: 1 bit per element, rows padded to 128 bits, so at most 1 byte per
  /// element for rows of 16 or more.
  constexpr buffer_id signs_of(step_id s) {
    buffer_id& signs = found[s].epilogue.auxiliary;
    if (signs == buffer_id::none)
      signs = section.buffers.add(
          {{buffer_kind::slot, -1, element_type::uint8, extents.multiply(product(s).rows, product(s).columns)}});
    return signs;
  }

  /// The sums of the right operand's rows.
  constexpr void find_sums(step_id s) {
    const product_step& p = product(s);
    if (!found[s].loops.empty() || !(p.right_column == 1) || !(p.right_depth == p.columns) || !(p.right_offset == 0))
      return;
    if (!(buffer(p.right).count == extents.multiply(p.depth, p.columns))) return;
    found[s].epilogue.result = p.result;
    found[s].epilogue.sums_right = join_sums(s, p.right, p.depth, p.columns);
  }
  /// Makes a loop that adds up the rows of `array` a part of the product; false if there is no such loop.
  constexpr bool join_sums(step_id s, buffer_id array, dim rows, dim columns) {
    for (step_id loop : owner.ids()) {
      if (!is_loop(loop) || !touches(loop, array) || match(loop).written().buffer == array) continue;
      if (!match(loop).adds_rows(array, rows, columns) || !may_join(loop, s)) continue;
      found[s].epilogue.bias_gradient = match(loop).written().buffer;
      join(loop, s);
      return true;
    }
    return false;
  }

  /// Joins a loop that copies the product's matrices and rows to other positions, if the elements of a row stay
  /// neighbours.
  constexpr void find_place(step_id s) {
    const step_id loop = loop_of_result(s);
    if (loop == step_id::none || !match(loop).is_copy()) return;
    const kernel_match m = match(loop);
    const product_step& p = product(s);
    placed_product_step e{.result = m.written().buffer};
    const plain_span<const dim> batch = plan[p.batch];
    dims places(static_cast<int>(batch.size()), dim{});
    dim stride = extents.multiply(p.rows, p.columns), column;
    int dimensions = 0;
    for (std::size_t d = batch.size(); d-- > 0; stride = extents.multiply(stride, batch[d]))
      if (!m.find_copied(batch[d], stride, places[static_cast<int>(d)], dimensions)) return;
    if (!m.find_copied(p.rows, p.columns, e.result_row, dimensions)) return;
    if (!m.find_copied(p.columns, dim{1}, column, dimensions) || !(column == 1)) return;
    if (dimensions != m.rank()) return;
    e.result_batch = plan.add_list(places);
    found[s].placed = e;
    join(loop, s);
  }

  // a template stands before its uses: clang++ does not know its body there otherwise
  template <class Step>
  constexpr step_record with_parts(step_kind kind, Step whole, const growing_vector<step_record>& parts) {
    whole.parts = plan.add_list(parts);
    return {kind, plan.add(whole)};
  }
  /// Products with loops become steps that have them as parts.
  constexpr void gather() {
    growing_vector<step_record> steps;
    for_each(owner.ids(), [&](step_id s) {
      if (owner[s] != step_id::none) return;
      if (found[s].loops.empty()) return steps.push_back(step(s));
      growing_vector<step_record> parts{step(s)};
      for (step_id loop : found[s].loops) parts.push_back(step(loop));
      if (found[s].placed) steps.push_back(with_parts(step_kind::placed_product, *found[s].placed, parts));
      else steps.push_back(with_parts(step_kind::epilogue, found[s].epilogue, parts));
    });
    section.steps = std::move(steps);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
