// pmap: one instance of a function per device.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/pmap_call.hpp>
#include <parallax/transforms/maps/mapping.hpp>
#include <parallax/transforms/maps/vmap.hpp>
#include <parallax/transforms/passes/donate.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The devices a pmap runs on, in the order of the mapped axis: `pmap(f, devices<2, 0, 1>)`. JAX: the argument of that
/// name
template <auto... Numbers> struct devices_t {};
template <auto... Numbers> inline constexpr devices_t<Numbers...> devices{};

/// For `pmap`: the number of instances on all processes together, known while compiling.
template <auto... Size> struct axis_size_t {};
template <std::int64_t Size> constexpr axis_size_t<Size> axis_size() {
  static_assert(Size > 0, "parallax: axis_size is a number of instances, 1 or more");
  return {};
}

namespace detail {

template <class Devices> struct device_numbers;
template <auto... Numbers> struct device_numbers<devices_t<Numbers...>> {
  static constexpr growing_vector<int> list() { return {static_cast<int>(Numbers)...}; }
};

template <class Size> inline constexpr std::int64_t given_size = 0;
template <auto Size> inline constexpr std::int64_t given_size<axis_size_t<Size>> = Size;

/// The axis of a pmap that has `rows` instances on this process. The outermost pmap's axis goes over all processes. If
/// `rows` is known while compiling, it is the size on all processes together, which the call checks.
constexpr mapped_axis axis_of_pmap(context& trace, std::string_view name, dim rows) {
  const bool is_of_one_process = is_static(rows) || trace.is_inside_pmap();
  return {.name = name,
          .size = is_of_one_process ? rows : trace.extents.over_processes(rows),
          .own_instances = rows,
          .is_pmapped = true};
}
/// The axis of a pmap over arguments. `size` is the size on all processes that the user gave, or 0.
constexpr mapped_axis axis_of_pmap(context& trace, std::string_view name, const mapped_arguments& arguments,
                                   std::int64_t size) {
  mapped_axis axis = axis_of_pmap(trace, name, arguments.size);
  if (size == 0) return axis;
  if (is_static(axis.size) && !(axis.size == size))
    trace.fail(message() << "pmap: Specified axis_size " << size << " does not match received axis_size "
                         << axis.size.number() << "; give as many elements as that");
  if (!is_static(axis.size))
    require(trace, guard_kind::same_size, "pmap: axis_size", axis.size, dim{size}, arguments.first_mapped());
  axis.size = dim{size};
  axis.is_counted = true;
  return axis;
}

/// Whether the devices that a user named can serve a pmap over an axis of this size.
constexpr bool check_devices(context& trace, const growing_vector<int>& devices, dim size) {
  if (!trace.bound_axes.empty()) {
    trace.fail(
        message() << "pmap: Nested pmap with explicit devices argument; give devices to the outermost pmap only");
    return false;
  }
  for (std::size_t k = 0; k < devices.size(); ++k) {
    bool again = false;
    for (std::size_t earlier = 0; earlier < k; ++earlier) again = again || devices[earlier] == devices[k];
    if (!again && devices[k] >= 0) continue;
    trace.fail(message() << "pmap: device " << devices[k] << (again ? " is named twice" : " is no device")
                         << " in the devices argument; name different devices, from 0 on");
    return false;
  }
  const int count = count_of(devices);
  if (is_static(size) && !(size == count)) {
    trace.fail(message() << "pmap: Leading axis size of input to pmapped function must equal the number of local "
                            "devices passed to pmap. Got axis_size="
                         << size.number() << ", num_local_devices=" << count
                         << "; name as many devices as there are elements");
    return false;
  }
  return true;
}

/// Gives a pmap its operands: the leaves with their axes, and the values that its body closes over. Returns which
/// results may differ between instances.
constexpr result_flags add_operands(context& trace, primitives::pmap_call::parameters& call,
                                    const growing_vector<tracer>& leaves, const growing_vector<int>& axes,
                                    growing_vector<tracer>& operands) {
  operand_flags input_varies;
  auto add_operand = [&](tracer operand, int axis) {
    operands.push_back(operand);
    call.in_axes.push_back(axis);
    input_varies.push_back(axis != unmapped);
  };
  for (std::size_t k = 0; k < leaves.size(); ++k)
    if (leaves[k].owner) add_operand(leaves[k], axes[k]);
  for_each(captures_to_inputs(trace, call.body), [&](tracer closed_over) { add_operand(closed_over, unmapped); });
  return varies_along({trace, call.axis}, call.body, input_varies);
}

} // namespace detail

/// A function mapped by pmap. Call it with arrays, or with tracers inside another traced function.
template <class Function, detail::fixed_string Name, class InAxes, class OutAxes, class Devices, class Size>
struct pmapped {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (!detail::any_traced<Args...>()) return execute(*this, args...);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>())
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "pmap");
    else return trace(args...);
  }

 private:
  template <class... Args> constexpr auto trace(const Args&... args) const {
    detail::context& owner = detail::trace_of_trees(args...);
    auto [arguments, body, mapped_axis, result, results] = detail::trace_instance<Name, InAxes>(
        owner, "pmap", function,
        [&](std::string_view name, const detail::mapped_arguments& mapped) {
          return detail::axis_of_pmap(owner, name, mapped, detail::given_size<Size>);
        },
        args...);
    if (owner.failed) return result;

    primitives::pmap_call::parameters call{.axis = mapped_axis, .size = arguments.size, .body = body};
    detail::leaf_axes out = detail::result_axes<OutAxes>::template read<decltype(result)>();
    if (!detail::check_fit(owner, "pmap", "out_axes", out)) return result;
    detail::growing_vector<tracer> operands;
    const detail::result_flags varies = detail::add_operands(owner, call, arguments.leaves, arguments.axes, operands);
    if (owner.failed) return result;
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (!detail::check_out_axis(owner, "pmap", out.values[k], results[k].rank())) return result;
      if (out.values[k] == detail::unmapped && varies[k]) {
        detail::varying_output(owner, "pmap", Name.view(), static_cast<int>(k));
        return result;
      }
      call.out_axes.push_back(out.values[k]);
    }
    call.devices = detail::device_numbers<Devices>::list();
    if (!call.devices.empty() && !detail::check_devices(owner, call.devices, arguments.size)) return result;
    return detail::with_leaves(result, detail::emit_call<primitives::pmap_call>(owner, operands, call));
  }
};

template <class Function, detail::fixed_string Name, class InAxes, class OutAxes, class Devices, class Size>
inline constexpr bool detail::is_transformed<pmapped<Function, Name, InAxes, OutAxes, Devices, Size>> = true;

namespace detail {
/// Whether results stay on their devices.
template <class Function> inline constexpr bool is_pmapped = false;
template <class Function, fixed_string Name, class InAxes, class OutAxes, class Devices, class Size>
inline constexpr bool is_pmapped<pmapped<Function, Name, InAxes, OutAxes, Devices, Size>> = true;
} // namespace detail

/// Maps `function` over an axis of its arguments with one instance per device: `pmap(f)`, `pmap<"name">(f, in_axes<0,
/// none>, out_axes<0>, devices<3, 1>)`. Results stay on their devices. Collectives combine the instances by the axis
/// name. `axis_size<8>()` says how many instances all processes have together: the compiler then knows this number,
/// although each process has an unknown part of it. `donate<0>` has calls use up argument 0. Inside another pmap,
/// devices are numbered row-major, the outer axis first. Errors: no argument that is mapped; an axis that an argument
/// or a result does not have; mapped extents that differ, or that are neither `axis_size` nor the number of `devices`.
/// JAX: pmap
template <detail::fixed_string Name = "", class Function, class... Options>
constexpr auto pmap(Function function, Options...) {
  using in = typename detail::option<in_axes_t, in_axes_t<0>, Options...>::type;
  using out = typename detail::option<out_axes_t, out_axes_t<0>, Options...>::type;
  using on = typename detail::option<devices_t, devices_t<>, Options...>::type;
  using size = typename detail::option<axis_size_t, axis_size_t<>, Options...>::type;
  using donated = typename detail::option<donate_t, donate_t<>, Options...>::type;
  return detail::with_donated(pmapped<Function, Name, in, out, on, size>{function}, donated{});
}

} // namespace parallax::PARALLAX_INLINE_VERSION
