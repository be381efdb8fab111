// pmap: one instance of a function per device.
#pragma once

#include <parallax/transforms/mapping.hpp>
#include <parallax/transforms/vmap.hpp>

namespace parallax {

/// The devices a pmap runs on, in the order of the mapped axis: `pmap(f, devices<2, 0, 1>)`.
template <auto... Numbers> struct devices_t {};
template <auto... Numbers> inline constexpr devices_t<Numbers...> devices{};

namespace detail {

/// For each output of a body whether its value may differ between the instances along an axis, given whether the inputs
/// may.
constexpr std::vector<char> varies_along(const context& trace, int body, int axis_number,
                                         const std::vector<char>& inputs) {
  const graph& g = trace.at(body);
  std::vector<char> varies(g.nodes.size(), 0), called; // called: the outputs of the last call
  for (std::size_t k = 0; k < inputs.size(); ++k) varies[static_cast<std::size_t>(g.inputs[k])] = inputs[k];
  for (int id = 0; id < g.size(); ++id) {
    int operation = g.at(id).operation;
    if (operation < 0) continue;
    char& result = varies[static_cast<std::size_t>(id)];
    if (operation == primitives::number_of<primitives::pmap_call>) {
      std::vector<char> operands;
      for (int operand : g.operands(id)) operands.push_back(varies[static_cast<std::size_t>(operand)]);
      called = varies_along(trace, call_parameters::read(g.parameters(id)).body, axis_number, operands);
      continue;
    }
    if (operation == primitives::number_of<primitives::call_result>) {
      result = called[static_cast<std::size_t>(g.parameter(id, 0))];
      continue;
    }
    for (int operand : g.operands(id)) result = result || varies[static_cast<std::size_t>(operand)];
    if (operation == primitives::number_of<primitives::axis_index>) result = g.parameter(id, 0) == axis_number;
    if (rules_of(operation).kind != primitive_kind::collective) continue;
    for (std::int64_t over : primitives::collective::axes(g.parameters(id)))
      if (over == axis_number)
        result = primitives::collective::has_groups(g.parameters(id)) ||
                 operation == primitives::number_of<primitives::ppermute> ||
                 operation == primitives::number_of<primitives::psum_scatter> ||
                 operation == primitives::number_of<primitives::all_to_all> ||
                 operation == primitives::number_of<primitives::axis_slice>;
  }
  std::vector<char> outputs;
  for (int output : g.outputs) outputs.push_back(varies[static_cast<std::size_t>(output)]);
  return outputs;
}

template <class Devices> struct device_numbers;
template <auto... Numbers> struct device_numbers<devices_t<Numbers...>> {
  static constexpr std::vector<std::int64_t> list() { return {static_cast<std::int64_t>(Numbers)...}; }
};

} // namespace detail

/// A function mapped by pmap. Call it with arrays, or with tracers inside another traced function.
template <class Function, fixed_string Name, class InAxes, class OutAxes, class Devices> struct pmapped {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (detail::any_traced<Args...>()) return trace(args...);
    else return execute(*this, args...);
  }

 private:
  template <class... Args> constexpr auto trace(const Args&... args) const {
    context& owner = detail::trace_of_trees(args...);
    auto [arguments, body, mapped_axis, result, results] =
        detail::trace_instance<Name, InAxes>(owner, "pmap", function, args...);
    if (owner.failed) return result;

    detail::call_parameters call;
    call.body = body;
    call.axis = mapped_axis;
    detail::leaf_axes out = detail::result_axes<OutAxes>::template read<decltype(result)>();
    if (!detail::check_fit(owner, "pmap", "out_axes", out)) return result;
    std::vector<tracer> operands;
    std::vector<char> input_varies;
    for (std::size_t k = 0; k < arguments.leaves.size(); ++k) {
      if (!arguments.leaves[k].owner) continue;
      operands.push_back(arguments.leaves[k]);
      call.in_axes.push_back(arguments.axes[k] == detail::unmapped ? -1 : arguments.axes[k]);
      input_varies.push_back(arguments.axes[k] != detail::unmapped);
    }
    for (tracer closed_over : detail::captures_to_inputs(owner, call.body)) {
      operands.push_back(closed_over);
      call.in_axes.push_back(-1);
      input_varies.push_back(0);
    }
    std::vector<char> varies = detail::varies_along(owner, call.body, call.axis, input_varies);
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (!detail::check_out_axis(owner, "pmap", out.axes[k], results[k].rank())) return result;
      if (out.axes[k] == detail::unmapped && varies[k]) {
        detail::varying_output(owner, "pmap", Name.view(), static_cast<int>(k));
        return result;
      }
      call.out_axes.push_back(out.axes[k] == detail::unmapped ? -1 : out.axes[k]);
    }
    call.devices = detail::device_numbers<Devices>::list();
    if (!call.devices.empty()) {
      if (owner.active.size() > 1) {
        owner.fail(
            message() << "pmap: Nested pmap with explicit devices argument; give devices to the outermost pmap only");
        return result;
      }
      dim count = static_cast<dim>(call.devices.size());
      for (std::size_t k = 0; k < call.devices.size(); ++k) {
        bool again = false;
        for (std::size_t earlier = 0; earlier < k; ++earlier) again = again || call.devices[earlier] == call.devices[k];
        if (again || call.devices[k] < 0) {
          owner.fail(message() << "pmap: device " << call.devices[k] << (again ? " is named twice" : " is no device")
                               << " in the devices argument; name different devices, from 0 on");
          return result;
        }
      }
      if (is_static(arguments.size) && arguments.size != count) {
        owner.fail(message() << "pmap: Leading axis size of input to pmapped function must equal the number of local "
                                "devices passed to pmap. Got axis_size="
                             << arguments.size << ", num_local_devices=" << count
                             << "; name as many devices as there are elements");
        return result;
      }
    }
    return detail::with_leaves(result, detail::append_call(owner, call, operands));
  }
};

/// Maps `function` over an axis of its arguments with one instance per device: `pmap(f)`,
/// `pmap<"name">(f, in_axes<0, none>, out_axes<0>, devices<3, 1>)`. Results stay on their devices. Collectives combine
/// the instances by the axis name. Inside another pmap, devices are numbered row-major, the outer axis first. JAX: pmap
template <fixed_string Name = "", class Function, class... Options> constexpr auto pmap(Function function, Options...) {
  using in = typename detail::option<in_axes_t, in_axes_t<0>, Options...>::type;
  using out = typename detail::option<out_axes_t, out_axes_t<0>, Options...>::type;
  using on = typename detail::option<devices_t, devices_t<>, Options...>::type;
  return pmapped<Function, Name, in, out, on>{function};
}

} // namespace parallax
