// What vmap and pmap share: the size of the mapped axis and the unmapped view of the arguments.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/maps/axis_spec.hpp>
#include <parallax/transforms/passes/callable.hpp>

#include <algorithm>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// JAX's text for mapped sizes that disagree. `size_of(argument)` is the size; `bullet` stands before each.
template <class Out, class Size>
constexpr void describe_mapped_sizes(Out& out, std::string_view transformation, std::string_view bullet,
                                     plain_span<const mapped_argument> arguments, Size&& size_of, auto&& print_type) {
  out << transformation << " got inconsistent sizes for array axes to be mapped:";
  flags_of<mapped_argument> told(arguments.size());
  int most = 0;
  for (const mapped_argument& a : arguments) {
    int count = 0;
    for (const mapped_argument& b : arguments) count += size_of(a) == size_of(b) ? 1 : 0;
    if (count > most) most = count;
  }
  for (int pass = 0; pass < 2; ++pass)
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      int count = 0;
      for (const mapped_argument& b : arguments) count += size_of(arguments[i]) == size_of(b) ? 1 : 0;
      if (told[i] || (pass == 0 && count != most)) continue;
      for (std::size_t j = 0; j < arguments.size(); ++j)
        told[j] = told[j] || size_of(arguments[i]) == size_of(arguments[j]);
      out << bullet;
      if (count == 1) out << "one axis had size ";
      else out << (count == most && pass == 0 ? "most axes (" : "some axes (") << count << " of them) had size ";
      out << size_of(arguments[i]) << (count == 1 ? ": axis " : ", e.g. axis ") << arguments[i].axis << " of argument "
          << arguments[i].argument << " of type ";
      print_type(out, arguments[i].value);
      out << ';';
    }
}

/// The arguments of a mapping: their tracers outside, their axes, and the common size.
struct mapped_arguments {
  growing_vector<tracer> leaves;
  growing_vector<int> axes; ///< from 0, or `unmapped`
  dim size;
  bool valid = false;

  /// The first argument that is mapped.
  constexpr abstract_value first_mapped() const {
    for (std::size_t k = 0; k < leaves.size(); ++k)
      if (axes[k] != unmapped) return leaves[k].value();
    return {};
  }
};

/// Lists the arguments that are mapped, and counts their axes from the start; false after an error.
constexpr bool list_mapped(context& trace, std::string_view transformation, mapped_arguments& arguments,
                           growing_vector<mapped_argument>& mapped) {
  for (std::size_t k = 0; k < arguments.leaves.size(); ++k) {
    int& axis_number = arguments.axes[k];
    if (!arguments.leaves[k].owner) axis_number = unmapped;
    if (axis_number == unmapped) continue;
    abstract_value value = arguments.leaves[k].value();
    int from_start = axis_number < 0 ? axis_number + value.rank() : axis_number;
    if (from_start < 0 || from_start >= value.rank()) {
      message text;
      text << transformation << " was requested to map its argument along axis " << axis_number
           << ", which implies that its rank should be at least " << (axis_number < 0 ? -axis_number : axis_number + 1)
           << ", but is only " << value.rank() << " (its shape is ";
      print_value(text, trace.extents, value);
      trace.fail(text << "); choose another axis, or none");
      return false;
    }
    axis_number = from_start;
    mapped.push_back({static_cast<int>(k), from_start, value});
  }
  if (mapped.empty())
    trace.fail(message() << transformation
                         << " must have at least one non-None value in in_axes; map at least one array argument");
  return !mapped.empty();
}

/// Finds the size that mapped axes have in common, a static one if there is one; false after an error. The call checks
/// sizes that are not known yet.
constexpr bool find_common_size(context& trace, std::string_view transformation,
                                const growing_vector<mapped_argument>& mapped, dim& common) {
  auto size_of = [](const mapped_argument& a) { return a.value.shape[a.axis]; };
  common = size_of(mapped[0]);
  bool differ = false;
  for_each(mapped, [&](const mapped_argument& a) {
    const dim size = size_of(a);
    if (is_static(size) && is_static(common) && !(size == common)) differ = true;
    if (is_static(size)) common = size;
  });
  if (differ) {
    message text;
    growing_vector<mapped_argument> known;
    for (const mapped_argument& a : mapped)
      if (is_static(size_of(a))) known.push_back(a);
    describe_mapped_sizes( // g++ prints a new line as \012
        text, transformation, " ", known, [&](const mapped_argument& a) { return size_of(a).number(); },
        [&](message& out, const abstract_value& v) { print_value(out, trace.extents, v); });
    trace.fail(text << " give arrays of one size along the mapped axes, or map none of those that differ");
    return false;
  }
  const auto other =
      std::find_if(mapped.begin(), mapped.end(), [&](const mapped_argument& a) { return size_of(a) != common; });
  if (other != mapped.end())
    trace.guards.push_back({guard_kind::mapped_sizes, transformation, common, size_of(*other), {}, {}, mapped});
  return true;
}

constexpr mapped_arguments map_arguments(context& trace, std::string_view transformation, const leaf_axes& spec,
                                         const growing_vector<tracer>& leaves) {
  mapped_arguments result{leaves, spec.values, dim{}, false};
  growing_vector<mapped_argument> mapped;
  result.valid = check_fit(trace, transformation, "in_axes", spec) &&
                 list_mapped(trace, transformation, result, mapped) &&
                 find_common_size(trace, transformation, mapped, result.size);
  // after an error the function is still traced, with all arguments as they are
  if (!result.valid) result.axes.assign(leaves.size(), unmapped);
  return result;
}

/// Opens the graph of one instance: its inputs are the arguments without their mapped axes.
constexpr growing_vector<tracer> open_instance(context& trace, const mapped_arguments& arguments) {
  trace.open_graph();
  growing_vector<tracer> inputs;
  for (std::size_t k = 0; k < arguments.leaves.size(); ++k) {
    if (!arguments.leaves[k].owner) {
      inputs.push_back(arguments.leaves[k]);
      continue;
    }
    abstract_value value = arguments.leaves[k].value();
    if (arguments.axes[k] != unmapped) value.shape.erase(arguments.axes[k]);
    inputs.push_back(new_input(trace, value));
  }
  return inputs;
}

/// A mapped function's graph, with the tree of its results and their leaves.
template <class Tree> struct instance {
  mapped_arguments arguments;
  graph_id body;
  axis_id axis;
  Tree tree;
  growing_vector<tracer> results;
};

/// Traces one instance of a mapped function. `axis_of` makes the mapped axis of its name and the arguments.
template <fixed_string Name, class InAxes, class Function, class AxisOf, class... Args>
constexpr auto trace_instance(context& trace, std::string_view transformation, const Function& function,
                              const AxisOf& axis_of, const Args&... args) {
  mapped_arguments arguments = map_arguments(trace, transformation, argument_axes<InAxes>::template read<Args...>(),
                                             leaves_to_tracers(trace, args...));
  growing_vector<tracer> inputs = open_instance(trace, arguments);
  const graph_id body = trace.innermost();
  const axis_id axis = trace.bind_axis(axis_of(Name.view(), arguments));
  auto tree = call_on(trace, function, inputs, std::index_sequence_for<Args...>{}, std::type_identity<Args>{}...);
  trace.unbind_axis();
  growing_vector<tracer> results = tracers_of(tree);
  set_outputs(trace, results);
  trace.close_graph();
  return instance<decltype(tree)>{arguments, body, axis, tree, results};
}

/// Reports a result that varies along the mapped axis although out_axes says it does not.
constexpr void varying_output(context& trace, std::string_view transformation, std::string_view name, int result) {
  message text;
  text << transformation << " has mapped output ";
  if (!name.empty()) text << "(axis_name='" << name << "') ";
  trace.fail(
      text << "but out_axes is None: result " << result
           << " differs between instances; give it an axis, or reduce it first with psum, pmean or another collective");
}

constexpr bool check_out_axis(context& trace, std::string_view transformation, int& axis_number, int rank) {
  if (axis_number == unmapped) return true;
  int from_start = axis_number < 0 ? axis_number + rank + 1 : axis_number;
  if (from_start < 0 || from_start > rank) {
    trace.fail(message() << transformation << " out_axes: axis " << axis_number
                         << " is out of bounds for array of dimension " << rank + 1 << "; give an axis from "
                         << -rank - 1 << " to " << rank);
    return false;
  }
  axis_number = from_start;
  return true;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
