// The steps of a section that each device does by itself, other than products: kernels, groups of kernels, loops that
// are kernels, slices of what all devices have, and functions of users.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/device.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/steps/launchers.hpp>
#include <parallax/program/kernel_arguments.hpp>
#include <parallax/program/section_steps.hpp>
#include <parallax/runtime/ffi_places.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `Section` is the section's runner.
template <class Section> class device_steps {
  using api = typename Section::api;

 public:
  device_steps(Section& section, const program_launchers<typename Section::api>& launchers)
      : of(section), launch(launchers) {}

  /// Runs a loop at one position.
  void run_at(const kernel_step& step, int p) {
    kernel_arguments a;
    operand operands[max_accesses];
    constant_bits constants[max_accesses];
    fill(step, a, operands, constants, p);
    if (of.moves()) {
      const auto& own = of.movement_at(p);
      a.round = own.round;
      operand* next = operands;
      for (const operand_record& from : of.section.plan[step.operands]) {
        if (from.buffer != buffer_id::none) next->start = own.bytes[index_of(from.buffer)];
        ++next;
      }
    }
    const device<api>& on = *of.all.devices[index_of(p)];
    on.activate();
    check(launch.kernels[index_of(step.kernel)](a, on.context()), on.number);
  }
  /// Launches the parts of a step as one kernel, or one by one if they are no group or their operands move with rounds.
  void run_at(const launch_batch_step& step, int p) {
    const plain_span<const step_record> parts = of.section.plan[step.parts];
    const group_launcher<launches_of<api>> launcher = launch.of(of.section.plan, step);
    if (launcher == nullptr || of.moves()) {
      for (const step_record& part : parts) run_at(of.section.plan.template at<kernel_step>(part.index), p);
      return;
    }
    operand operands[max_accesses];
    constant_bits constants[max_accesses];
    auto part = [&](int number, kernel_arguments& a) {
      fill(of.section.plan.template at<kernel_step>(parts[index_of(number)].index), a, operands, constants, p);
    };
    for (const step_record& each : parts) // which may have work done on other devices
      visit_buffers(of.section.plan, each, [&](buffer_id id) { of.data(id, p); });
    const device<api>& on = *of.all.devices[index_of(p)];
    on.activate();
    check(launcher(part, on.context()), on.number);
  }
  void run_at(const axis_slice_step& step, int p) {
    const auto count = index_of(of.all.own_axis_size(step.axes.bits));
    const auto rows = index_of(of.section.extents[step.outer]);
    const std::size_t row = index_of(of.section.extents[step.inner]) * size_of(of.section.type_of(step.source));
    const auto index = index_of(of.all.own_axis_index(p, step.axes.bits));
    of.all.devices[index_of(p)]->copy_rows(of.data(step.result, p), row, of.data(step.source, p) + index * row,
                                           count * row, row, rows);
  }
  /// Runs all rounds as one kernel.
  template <class Step> void run_whole(const Step& step) {
    recycled_vector<std::byte*> operands(index_of(step.operands.count)), results(index_of(step.results.count));
    recycled_vector<std::int32_t> axis_indices(of.section.mesh().size());
    for (int p = 0; p < of.all.size(); ++p) {
      if (!of.runs_at(p)) continue;
      std::size_t next = 0;
      for (const scan_operand& x : of.section.plan[step.operands]) operands[next++] = of.data(x.buffer, p);
      next = 0;
      for (const scan_result& y : of.section.plan[step.results]) results[next++] = of.data(y.buffer, p);
      for (std::size_t axis = 0; axis < axis_indices.size(); ++axis)
        axis_indices[axis] = static_cast<std::int32_t>(of.all.axis_index(p, 1U << axis));
      const device<api>& on = *of.all.devices[index_of(p)];
      on.activate();
      check(launch.of(of.section.plan, step)({operands.data(), results.data(), rounds_of(step), axis_indices},
                                             on.context()),
            on.number);
    }
  }
  /// Calls a user's function at each position that runs the section.
  void run(const ffi_step& step) {
    const ffi_function& function = *of.section.plan.ffi_functions[step.function];
    if (!function.cuda)
      throw error("custom_call: the rules have no function cuda, and this program runs on CUDA devices; give them one, "
                  "or choose the host backend");
    using stream = typename api::stream;
    if (function.stream_type != &name_of_type<stream>)
      throw error("custom_call: the rules' cuda takes another type of stream than this backend has");
    for (int p = 0; p < of.all.size(); ++p) {
      if (!of.runs_at(p)) continue;
      const device<api>& on = *of.all.devices[index_of(p)];
      on.activate();
      const ffi_places call(of.section, step, [&](buffer_id id) { return of.data(id, p); });
      const stream enqueued_on = on.stream();
      function.cuda(&enqueued_on, call.arguments());
    }
  }

 private:
  Section& of;
  const program_launchers<api>& launch;

  void fill(const kernel_step& step, kernel_arguments& a, operand* operands, constant_bits* constants, int position) {
    of.section.fill(
        step, a, operands, constants, of.all.devices[index_of(position)]->nothing_to_read(),
        [&](buffer_id id) { return of.data(id, position); },
        [&](mesh_axis axis) { return of.all.axis_index(position, 1U << static_cast<int>(axis)); });
  }
  std::int64_t rounds_of(const scan_step& step) const { return of.section.extents[step.count]; }
  static std::int64_t rounds_of(const while_step&) { return 0; }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
