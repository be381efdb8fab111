// A call's body and its derivative as one graph, which is then cut into a forward and a backward half.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/cheap_residuals.hpp>
#include <parallax/transforms/passes/reverse.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Computes a body's results and, given their cotangents, the cotangents of its inputs. A value of the first part that
/// the second part reads is a residual, which the forward half returns and the backward half takes, or it is computed
/// again in the backward half.
class joint_program {
 public:
  growing_vector<int> differentiated_results; ///< those of floating types
  growing_vector<int> differentiated_inputs;  ///< those that are wanted and that the results depend on

  /// `cotangent_of(k, given)` is result k's cotangent inside the body, `gradient_of(k, computed)` is input k's
  /// cotangent outside of it. If `cotangent_of` has a member `differs_along(k)`, it gives the axes of meshes along
  /// which the given cotangent differs although the result does not. All values that are read are kept.
  template <class Cotangent, class Gradient>
  constexpr joint_program(context& owner, graph_id differentiated, const operand_flags& wanted,
                          const Cotangent& cotangent_of, const Gradient& gradient_of)
      : trace(owner), joint(owner.open_graph()) {
    const graph& body = trace.at(differentiated);
    inputs = vector_of(body.inputs, [&](node_id input) { return new_input(trace, body.value(input)); });
    reverse_pass pass(trace, differentiated, inputs, wanted);
    results = pass.outputs;
    cut = node_id{trace.at(joint).size()};
    if (!trace.failed) trace_backward(pass, cotangent_of, gradient_of, wanted);
    trace.close_graph();
    if (!trace.failed) find_residuals(read_by_backward(), [](node_id) { return true; });
  }

  /// Keeps only residuals for which `keeps(graph, node)` holds. The halves will be parts of one graph: values that are
  /// computed again must not be identified with those of the first time.
  template <class Keeps> constexpr void keep_only(const Keeps& keeps) {
    if (trace.failed) return;
    is_apart = true;
    find_residuals(read_by_backward(), [&](node_id id) { return keeps(g(), id); });
  }
  /// Does not keep residuals that are cheaper to compute again. `place_of(k)` says how the backward half gets input k.
  template <class Place> constexpr void compute_cheap_values_again(const Place& place_of) {
    if (trace.failed) return;
    table<node_id, input_place> places(g().size(), input_place::elsewhere);
    for (std::size_t k = 0; k < inputs.size(); ++k) places[inputs[k].id] = place_of(k);
    const id_set<node_id> read = read_by_backward();
    const cheap_residuals cheap(trace, g(), cut, read, places);
    find_residuals(read, [&](node_id id) { return !cheap.again.contains(id); });
  }

  constexpr int residual_count() const { return count_of(residuals); }

  /// A graph of the same inputs that returns the results, and then the residuals.
  constexpr graph_id forward_half() {
    const graph_id half = trace.open_graph();
    replacements<tracer> values(g());
    for_each(inputs, [&](tracer x) { values.set(x.id, new_input(trace, x.value())); });
    copy(values, needed_forward());
    for_each(results, [&](tracer y) { add_output(trace, values[y.id]); });
    for_each(residuals, [&](node_id residual) { add_output(trace, values[residual]); });
    trace.close_graph();
    return half;
  }

  /// A graph that takes the same inputs, the residuals, and the cotangents of the differentiated results. It returns
  /// the cotangents of the differentiated inputs.
  constexpr graph_id backward_half() {
    const graph_id half = trace.open_graph();
    replacements<tracer> values(g());
    for_each(inputs, [&](tracer x) {
      const tracer input = new_input(trace, x.value());
      values.set(x.id, is_apart ? apart(input) : input);
    });
    for_each(residuals, [&](node_id residual) { values.set(residual, new_input(trace, g().value(residual))); });
    for_each(seeds, [&](tracer seed) { values.set(seed.id, new_input(trace, seed.value())); });
    id_set<node_id> backward = g().needed();
    for_each(g().ids(), [&](node_id id) {
      if (is_before_cut(id) && !again.contains(id)) backward.erase(id);
    });
    copy(values, backward);
    const growing_vector<node_id> gradients = g().outputs;
    for_each(gradients, [&](node_id gradient) { add_output(trace, values[gradient]); });
    trace.close_graph();
    return half;
  }

 private:
  context& trace;
  graph_id joint;
  growing_vector<tracer> inputs, results, seeds;
  node_id cut = node_id::none; ///< the first node of the backward part
  growing_vector<node_id> residuals;
  id_set<node_id> again; ///< values that the backward half computes again, sources in any case
  bool is_apart = false; ///< whether the backward half's inputs are copies, unlike the forward half's

  /// Looked up again each time, as appending may move graphs.
  constexpr const graph& g() const { return trace.at(joint); }
  constexpr bool is_before_cut(node_id id) const { return id < cut; }

  template <class Cotangent, class Gradient>
  constexpr void trace_backward(reverse_pass& pass, const Cotangent& cotangent_of, const Gradient& gradient_of,
                                const operand_flags& wanted) {
    growing_vector<tracer> cotangents(results.size());
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (!has_derivatives(results[k].type())) continue;
      differentiated_results.push_back(static_cast<int>(k));
      abstract_value seed = results[k].value();
      if constexpr (requires { cotangent_of.differs_along(k); })
        seed.varies = seed.varies | cotangent_of.differs_along(k);
      seeds.push_back(new_input(trace, seed));
      cotangents[k] = cotangent_of(k, seeds.back());
    }
    const growing_vector<tracer> gradients = pass.backward(cotangents);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (wanted[k] == 0 || !gradients[k].owner) continue;
      differentiated_inputs.push_back(static_cast<int>(k));
      add_output(trace, gradient_of(k, gradients[k]));
    }
  }

  /// The values of the forward part that the backward part, and the graph's outputs, read.
  constexpr id_set<node_id> read_by_backward() const {
    const id_set<node_id> live = g().needed();
    id_set<node_id> read(g().size());
    for_each(g().ids(), [&](node_id id) {
      if (!is_before_cut(id) && live.contains(id)) read.insert(g().operands(id));
    });
    read.insert(g().outputs);
    return read;
  }
  /// Finds the values of the forward part that the backward part reads. Inputs are there anyway. A value that is not
  /// kept is computed again, so that its operands are read too.
  template <class Keeps> constexpr void find_residuals(id_set<node_id> read, const Keeps& keeps) {
    id_set<node_id> kept(g().size());
    again = id_set<node_id>(g().size());
    for_each(g().ids().reversed(), [&](node_id id) {
      if (!is_before_cut(id) || !read.contains(id) || g().is_input(id)) return;
      if (!is_kind(trace, g(), id, primitive_kind::source) && keeps(id)) {
        kept.insert(id);
      } else {
        again.insert(id);
        read.insert(g().operands(id));
      }
    });
    residuals.clear();
    for_each(g().ids(), [&](node_id id) {
      if (kept.contains(id)) residuals.push_back(id);
    });
  }

  /// A copy of a value as another node, by a view that changes nothing: values computed from the copy are not
  /// identified with values computed before.
  constexpr tracer apart(tracer x) const {
    axis_list axes;
    for (int k = 0; k < x.rank(); ++k) axes.push_back(k);
    return emit<primitives::transpose>({x}, primitives::transpose_parameters{axes});
  }

  /// The nodes that the results and the residuals depend on.
  constexpr id_set<node_id> needed_forward() const {
    id_set<node_id> live(g().size());
    for_each(results, [&](tracer y) { live.insert(y.id); });
    live.insert(residuals);
    return g().with_operands(live);
  }

  constexpr void copy(replacements<tracer>& values, const id_set<node_id>& wanted) {
    for_each(wanted.ids(), [&](node_id id) {
      if (wanted.contains(id) && !values.has(id) && !g().is_input(id)) replay(trace, joint, id, values);
    });
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
