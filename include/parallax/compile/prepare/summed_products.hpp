// Sums of products over the rounds of a loop, such as the gradients of weights: one product behind the loop instead.
#pragma once

#include <parallax/compile/prepare/emit_loop.hpp>
#include <parallax/compile/prepare/readable_products.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/scan_call.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A carry to which each round adds a product with rows and columns, and that nothing else reads.
struct summed_product {
  std::size_t operand = 0, carry = 0; ///< of the scan; among its carries
  node_id product = node_id::none;
  growing_vector<node_id> transposes{}; ///< of the product, the last one first
};

/// Takes such carries out of a scan. The rounds stack the factors instead, at least one of which is a stacked operand's
/// slice already, and one product that contracts over the rounds too gives the sum.
class summed_products {
 public:
  constexpr summed_products(context& owner, const scan_parameters& scan) : trace(owner), p(scan) { find(); }

  constexpr bool empty() const { return sums.empty(); }

  /// Appends the loop, whose body goes through `prepare`, and the products; returns the scan's results.
  template <class Prepare>
  constexpr growing_vector<tracer> append(const growing_vector<tracer>& operands, const Prepare& prepare) {
    scan_parameters rest{.length = p.length, .reverse = p.reverse};
    growing_vector<tracer> remaining;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (is_taken_out(k)) continue;
      rest.roles.push_back(p.roles[k]);
      remaining.push_back(operands[k]);
    }
    rest.body = prepare(body_without_sums());
    if (trace.failed) return operands;
    const growing_vector<tracer> made = emit_loop<primitives::scan_call>(trace, remaining, rest);
    growing_vector<tracer> results;
    std::size_t next = 0;
    for (std::size_t j = 0; j < body().outputs.size(); ++j) {
      const summed_product* const sum = sum_of_carry(j);
      results.push_back(sum ? total(*sum, operands, made) : made[next++]);
    }
    return results;
  }

 private:
  context& trace;
  const scan_parameters& p;
  growing_vector<summed_product> sums;
  growing_vector<node_id> stacked; ///< what rounds stack besides their own outputs

  constexpr const graph& body() const { return trace.at(p.body); }

  constexpr bool is_taken_out(std::size_t operand) const {
    for (const summed_product& sum : sums)
      if (sum.operand == operand) return true;
    return false;
  }
  constexpr const summed_product* sum_of_carry(std::size_t carry) const {
    for (const summed_product& sum : sums)
      if (sum.carry == carry) return &sum;
    return nullptr;
  }

  constexpr void find() {
    const graph& g = body();
    table<node_id, int> uses(g.size(), 0);
    const id_set<node_id> needed = g.needed();
    for_each(g.ids(), [&](node_id id) {
      if (!needed.contains(id) || !g.is_operation(id)) return;
      for (node_id operand : g.operands(id)) ++uses[operand];
    });
    for (node_id output : g.outputs) ++uses[output];
    const growing_vector<int> carries = operands_of(p.roles, scan_role::carry);
    for (std::size_t c = 0; c < carries.size(); ++c) {
      summed_product sum{.operand = index_of(carries[c]), .carry = c};
      if (adds_product(uses, sum)) sums.push_back(sum);
    }
  }
  constexpr bool adds_product(const table<node_id, int>& uses, summed_product& sum) const {
    const graph& g = body();
    const node_id before = g.inputs[sum.operand], after = g.outputs[sum.carry];
    if (!is<primitives::add>(g, after) || uses[before] != 1 || uses[after] != 1) return false;
    const bool is_first = g.operand(after, 0) == before;
    if (!is_first && g.operand(after, 1) != before) return false;
    node_id added = g.operand(after, is_first ? 1 : 0);
    for (; is<primitives::transpose>(g, added); added = g.operand(added, 0)) sum.transposes.push_back(added);
    sum.product = added;
    return is<primitives::dot_general>(g, added) && g.rank(added) == g.rank(before) && has_rows_and_columns(added) &&
           (is_slice(g.operand(added, 0)) || is_slice(g.operand(added, 1)));
  }
  constexpr bool has_rows_and_columns(node_id product) const {
    const auto axes = parameters_of<primitives::dot_general>(body(), product);
    return !axes.left_free(body().rank(body().operand(product, 0))).empty() &&
           !axes.right_free(body().rank(body().operand(product, 1))).empty();
  }
  /// The operand of the scan that a node is a slice of; -1 if it is no slice.
  constexpr int sliced_operand(node_id id) const {
    for (std::size_t k = 0; k < p.roles.size(); ++k)
      if (p.roles[k] == scan_role::stacked && body().inputs[k] == id) return static_cast<int>(k);
    return -1;
  }
  constexpr bool is_slice(node_id id) const { return sliced_operand(id) >= 0; }

  /// The body that returns the factors instead of sums.
  constexpr graph_id body_without_sums() {
    growing_vector<node_id> outputs;
    for (std::size_t j = 0; j < body().outputs.size(); ++j)
      if (sum_of_carry(j) == nullptr) outputs.push_back(body().outputs[j]);
    for (const summed_product& sum : sums)
      for (node_id factor : body().operands(sum.product))
        if (!is_slice(factor) && !plain::contains(stacked, factor)) stacked.push_back(factor);
    for (node_id factor : stacked) outputs.push_back(factor);
    const graph_id made = trace.open_graph();
    replacements<tracer> values(body());
    for (std::size_t k = 0; k < p.roles.size(); ++k)
      if (!is_taken_out(k)) values.set(body().inputs[k], new_input(trace, body().value(body().inputs[k])));
    id_set<node_id> wanted(body().size());
    wanted.insert(outputs);
    wanted = body().with_operands(wanted);
    for_each(wanted.ids(), [&](node_id id) {
      if (wanted.contains(id) && !values.has(id)) replay(trace, p.body, id, values);
    });
    for_each(outputs, [&](node_id output) { add_output(trace, values[output]); });
    trace.close_graph();
    return made;
  }

  /// The carry's first value plus the sum of all rounds' products.
  constexpr tracer total(const summed_product& sum, const growing_vector<tracer>& operands,
                         const growing_vector<tracer>& made) const {
    auto of_all_rounds = [&](node_id factor) {
      if (const int operand = sliced_operand(factor); operand >= 0) return operands[index_of(operand)];
      std::size_t k = 0;
      while (stacked[k] != factor) ++k;
      return made[made.size() - stacked.size() + k];
    };
    auto axes = parameters_of<primitives::dot_general>(body(), sum.product);
    for (axis_list* list : {&axes.left_contract, &axes.right_contract, &axes.left_batch, &axes.right_batch})
      for (int& axis : *list) ++axis;
    axes.left_contract.insert(0, 0);
    axes.right_contract.insert(0, 0);
    tracer product = readable_product(of_all_rounds(body().operand(sum.product, 0)),
                                      of_all_rounds(body().operand(sum.product, 1)), axes);
    for (std::size_t k = sum.transposes.size(); k-- > 0;)
      product = build::transpose(product, parameters_of<primitives::transpose>(body(), sum.transposes[k]).permutation);
    return emit<primitives::add>({operands[sum.operand], product});
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
