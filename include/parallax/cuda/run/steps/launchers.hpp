// The launchers of a program's kernels, as the code that runs it knows them.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/kernels/block/block_loop.hpp>
#include <parallax/cuda/kernels/elementwise/elementwise_group.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/reductions/reduction_group.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/kernel_arguments.hpp>
#include <parallax/program/plan.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Launches one kernel of a program.
template <launch_api Api> using kernel_launcher = status (*)(kernel_arguments&, const launch_context<Api>&);
/// Launches the parts of a batch of launches as one kernel.
template <launch_api Api> using group_launcher = status (*)(group_part, const launch_context<Api>&);
/// Launches a loop of a program as one kernel.
template <launch_api Api> using loop_launcher = status (*)(const loop_call&, const launch_context<Api>&);

/// The loops of a program that are kernels; none by default.
struct whole_loops {
  const bool* scans = nullptr; ///< by the numbers of the records
  const bool* while_loops = nullptr;

  bool have(const plan_view& plan, const scan_step& loop) const {
    return scans != nullptr && scans[place_of(plan, loop)];
  }
  bool have(const plan_view& plan, const while_step& loop) const {
    return while_loops != nullptr && while_loops[place_of(plan, loop)];
  }
  /// The number of a record of the plan, among those of its kind.
  template <class Step> static std::size_t place_of(const plan_view& plan, const Step& loop) {
    return static_cast<std::size_t>(&loop - plan.all<Step>().data());
  }
};

/// The launchers of a program's kernels, of its groups of kernels, and of its loops that are kernels, by the numbers of
/// their records. `Launches` is the policy of the file that has the program.
template <launch_api Launches> struct launchers_by {
  const kernel_launcher<Launches>* kernels = nullptr;
  const group_launcher<Launches>* groups = nullptr; ///< null, or null entries, if parts are launched one by one
  const loop_launcher<Launches>* scans = nullptr;
  const loop_launcher<Launches>* while_loops = nullptr;
  whole_loops whole;

  group_launcher<Launches> of(const plan_view& plan, const launch_batch_step& step) const {
    return groups == nullptr ? nullptr : groups[whole_loops::place_of(plan, step)];
  }
  loop_launcher<Launches> of(const plan_view& plan, const scan_step& loop) const {
    return scans[whole_loops::place_of(plan, loop)];
  }
  loop_launcher<Launches> of(const plan_view& plan, const while_step& loop) const {
    return while_loops[whole_loops::place_of(plan, loop)];
  }
};

/// Those that a backend with this policy runs.
template <device_api Api> using program_launchers = launchers_by<launches_of<Api>>;

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
