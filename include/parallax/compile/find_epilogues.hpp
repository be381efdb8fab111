// Products whose library can do the loops behind them: bias, ReLU, GELU, their gradients, and sums for a bias'
// gradient.
#pragma once

#include <parallax/compile/match_kernel.hpp>
#include <parallax/compile/start_early.hpp>

#include <utility>
#include <vector>

namespace parallax::detail {

/// Puts products and such loops together as steps of kind `epilogue`. The loops stay in them: backends whose library
/// knows no epilogues, and shapes that it does not take, run the parts one after another.
class epilogue_finder {
 public:
  constexpr epilogue_finder(dim_table& table, const std::vector<kernel_structure>& all, planned_block& of)
      : extents(table), kernels(all), block(of), owner(of.steps.size(), nobody), found(of.steps.size()) {}

  constexpr void run() {
    const int count = static_cast<int>(block.steps.size());
    for (int s = 0; s < count; ++s)
      if (is_candidate(s)) find_activation(s);
    for (int s = 0; s < count; ++s)
      if (is_candidate(s)) find_gradient(s);
    for (int s = 0; s < count; ++s)
      if (is_candidate(s)) find_sums(s);
    gather();
  }

 private:
  static constexpr int nobody = -1;

  struct candidate {
    planned_epilogue epilogue;
    std::vector<int> loops; ///< the steps that the product's call replaces, in order
  };

  dim_table& extents;
  const std::vector<kernel_structure>& kernels;
  planned_block& block;
  std::vector<int> owner;       ///< by step: the product that it has become a part of
  std::vector<candidate> found; ///< by step, for products

  static constexpr std::size_t at(int number) { return static_cast<std::size_t>(number); }
  constexpr const planned_step& step(int s) const { return block.steps[at(s)]; }
  constexpr const planned_product& product(int s) const { return step(s).product; }
  constexpr kernel_match match(int s) const { return {extents, kernels[at(step(s).kernel)], step(s)}; }

  /// Of types that libraries have epilogues for, and one matrix, of more than one row and column.
  constexpr bool is_candidate(int s) const {
    if (step(s).kind != step_kind::product || !product(s).batch.empty()) return false;
    const element_type type = block.buffers[at(step(s).result)].type;
    return is_floating(type) && type != element_type::float64 && product(s).rows != 1 && product(s).columns != 1;
  }
  constexpr bool is_loop(int s) const { return step(s).kind == step_kind::kernel && owner[at(s)] == nobody; }

  /// The loop that alone reads what the product has made; `nobody` where there is none.
  constexpr int only_reader(int s) const {
    const int result = step(s).result;
    if (block.buffers[at(result)].place != buffer_place::slot) return nobody;
    int reader = nobody;
    for (int other = 0; other < static_cast<int>(block.steps.size()); ++other) {
      if (other == s || !touches(step(other), result)) continue;
      if (reader != nobody || !is_loop(other)) return nobody;
      reader = other;
    }
    return reader;
  }

  constexpr bool stores(int s) const {
    return std::ranges::any_of(kernels[at(step(s).kernel)].statements, [](const kernel_statement& each) {
      return each.operation == store_vector || each.operation == store_row;
    });
  }
  /// Whether a step may write a buffer: of a loop with several results, any that it touches.
  constexpr bool may_write(int s, int buffer) const {
    if (step(s).kind != step_kind::kernel) return step(s).result == buffer;
    return step(s).accesses[0].buffer == buffer || (stores(s) && touches(step(s), buffer));
  }
  /// Whether a loop and another step have to keep their order.
  constexpr bool depends(int loop, int other) const {
    return step(other).kind == step_kind::call || std::ranges::any_of(step(loop).accesses, [&](const access& a) {
             return a.buffer >= 0 && touches(step(other), a.buffer) &&
                    (may_write(other, a.buffer) || may_write(loop, a.buffer));
           });
  }
  /// Whether a loop may run directly behind the product and those loops that are its parts already.
  constexpr bool may_join(int loop, int s) const {
    for (int between = std::min(loop, s) + 1; between < std::max(loop, s); ++between) {
      if (owner[at(between)] == s) continue;
      if (depends(loop, between)) return false;
      for (int part : found[at(between)].loops) // they have moved to there
        if (depends(loop, part)) return false;
    }
    return true;
  }
  /// The loop that may join the product because it alone reads what that has made, and has a result for each of its
  /// elements, in their order; `nobody` where there is none.
  constexpr int loop_of_result(int s) const {
    const int loop = only_reader(s);
    if (loop == nobody || loop < s || !may_join(loop, s)) return nobody;
    const kernel_match m = match(loop);
    const bool of_all = m.is_whole(m.step.accesses[0]) && m.covers(block.buffers[at(step(s).result)].count);
    return m.result() >= 0 && of_all ? loop : nobody;
  }
  constexpr void join(int loop, int s) {
    owner[at(loop)] = s;
    found[at(s)].loops.push_back(loop);
  }

  /// result + bias, and a function of it.
  constexpr void find_activation(int s) {
    const int loop = loop_of_result(s);
    if (loop == nobody) return;
    const kernel_match m = match(loop);
    int statement = m.result();
    planned_epilogue e;
    e.result = m.step.accesses[0].buffer;
    if (m.is(statement, primitives::number_of<primitives::relu>)) e.activation = product_activation::relu;
    if (m.is(statement, primitives::number_of<primitives::gelu>)) e.activation = product_activation::gelu;
    if (e.activation != product_activation::identity) statement = m.operand(statement, 0);
    const int before = statement; // the activation
    if (m.is(statement, primitives::number_of<primitives::add>))
      for (int side = 0; side < 2 && e.bias < 0; ++side) {
        const access* bias = m.load_of_row(m.operand(statement, side), product(s).columns);
        if (bias == nullptr || bias->buffer == step(s).result ||
            m.load_of_whole(m.operand(statement, 1 - side)) == nobody)
          continue;
        e.bias = bias->buffer, e.bias_offset = bias->offset;
        statement = m.operand(statement, 1 - side);
      }
    if (m.load_of_whole(statement) != step(s).result) return;
    if (e.bias < 0 && e.activation == product_activation::identity) return;
    for (const kernel_statement& kept : m.kernel.statements) {
      if (kept.operation != store_vector) continue;
      const access& place = m.step.accesses[at(kept.operands[1])];
      if (e.activation != product_activation::gelu || kept.operands[0] != before || !m.is_whole(place)) return;
      e.auxiliary = place.buffer;
    }
    found[at(s)].epilogue = e;
    join(loop, s);
  }

  /// result * derivative, of a function whose result or operand lies in memory; and the sums of that.
  constexpr void find_gradient(int s) {
    if (!found[at(s)].loops.empty()) return;
    const int loop = loop_of_result(s);
    if (loop == nobody || stores(loop)) return;
    const kernel_match m = match(loop);
    const int last = m.result();
    planned_epilogue e;
    e.result = m.step.accesses[0].buffer;
    if (m.is(last, primitives::number_of<primitives::select>)) {
      // select(y > 0, result, 0)
      const int condition = m.operand(last, 0);
      if (!m.is(condition, primitives::number_of<primitives::greater>) || !m.is_zero(m.operand(condition, 1)) ||
          !m.is_zero(m.operand(last, 2)) || m.load_of_whole(m.operand(last, 1)) != step(s).result)
        return;
      const int made_by = maker_of(m.load_of_whole(m.operand(condition, 0)));
      // signs lie in rows
      if (made_by == nobody || product(made_by).rows != product(s).rows ||
          product(made_by).columns != product(s).columns)
        return;
      e.activation = product_activation::relu_gradient;
      e.auxiliary = signs_of(made_by);
    } else if (m.is(last, primitives::number_of<primitives::multiply>)) {
      for (int side = 0; side < 2; ++side) {
        const int derivative = m.operand(last, side);
        if (!m.is(derivative, primitives::number_of<primitives::gelu_derivative>) ||
            m.load_of_whole(m.operand(last, 1 - side)) != step(s).result)
          continue;
        e.activation = product_activation::gelu_gradient;
        e.auxiliary = m.load_of_whole(m.operand(derivative, 0));
      }
      if (e.auxiliary < 0 || e.auxiliary == step(s).result) return;
    } else {
      return;
    }
    found[at(s)].epilogue = e;
    join(loop, s);
    join_sums(s, e.result, product(s).rows, product(s).columns);
  }
  /// The product whose call leaves the result of a relu there.
  constexpr int maker_of(int buffer) const {
    if (buffer < 0) return nobody;
    for (int s = 0; s < static_cast<int>(found.size()); ++s)
      if (found[at(s)].epilogue.activation == product_activation::relu && found[at(s)].epilogue.result == buffer)
        return s;
    return nobody;
  }
  /// The signs that a relu leaves for its gradient: a bit for each element, in rows of 128, and so no more bytes than
  /// elements where a row has 16.
  constexpr int signs_of(int s) {
    int& signs = found[at(s)].epilogue.auxiliary;
    if (signs < 0) {
      const dim count = extents.multiply(product(s).rows, product(s).columns);
      block.buffers.push_back({buffer_place::slot, -1, element_type::uint8, {count}, count, -1, -1});
      signs = static_cast<int>(block.buffers.size()) - 1;
    }
    return signs;
  }

  /// The sums of the right operand's rows.
  constexpr void find_sums(int s) {
    const planned_product& p = product(s);
    if (!found[at(s)].loops.empty() || p.right_column != 1 || p.right_depth != p.columns || step(s).right_offset != 0)
      return;
    const int right = step(s).operands[1];
    if (block.buffers[at(right)].count != extents.multiply(p.depth, p.columns)) return;
    found[at(s)].epilogue.result = step(s).result;
    found[at(s)].epilogue.sums_right = join_sums(s, right, p.depth, p.columns);
  }
  /// A loop that adds up the rows of an array becomes a part of the product.
  constexpr bool join_sums(int s, int array, dim rows, dim columns) {
    for (int loop = 0; loop < static_cast<int>(block.steps.size()); ++loop) {
      if (!is_loop(loop) || !touches(step(loop), array) || step(loop).accesses[0].buffer == array) continue;
      if (!match(loop).adds_rows(array, rows, columns) || !may_join(loop, s)) continue;
      found[at(s)].epilogue.bias_gradient = step(loop).accesses[0].buffer;
      join(loop, s);
      return true;
    }
    return false;
  }

  /// Products with loops become steps that have them as parts.
  constexpr void gather() {
    bool any = false;
    for (int product : owner) any = any || product != nobody;
    if (!any) return;
    std::vector<planned_step> steps;
    for (int s = 0; s < static_cast<int>(block.steps.size()); ++s) {
      if (owner[at(s)] != nobody) continue;
      if (found[at(s)].loops.empty()) {
        steps.push_back(std::move(block.steps[at(s)]));
        continue;
      }
      planned_step whole;
      whole.kind = step_kind::epilogue;
      whole.epilogue = found[at(s)].epilogue;
      if (whole.epilogue.auxiliary >= 0) whole.operands.push_back(whole.epilogue.auxiliary);
      whole.parts.push_back(std::move(block.steps[at(s)]));
      for (int loop : found[at(s)].loops) whole.parts.push_back(std::move(block.steps[at(loop)]));
      steps.push_back(std::move(whole));
    }
    block.steps = std::move(steps);
  }
};

} // namespace parallax::detail
