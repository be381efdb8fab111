// The functions that launch a program's kernels, and its loops that are kernels.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/block/block_loop.hpp>
#include <parallax/cuda/kernels/launch.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/steps/launchers.hpp>
#include <parallax/cuda/run/steps/slices_in_place.hpp>
#include <parallax/program/kernel.hpp>
#include <parallax/program/section_steps.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The kernels and loops of a program that are launched: those inside of a loop that is a kernel are not.
template <class Program> struct launched_records {
  template <class T> using flags = std::array<bool, index_of(Program::plan.template size<T>()) + 1>;
  flags<kernel_record> kernels{};    ///< by themselves
  flags<kernel_record> moving{};     ///< kernels that read or write slices of a scan in place
  flags<launch_batch_step> groups{}; ///< as one kernel
  flags<scan_step> scans{};          ///< as kernels
  flags<while_step> while_loops{};

  static constexpr launched_records find() {
    launched_records found;
    found.add(section_id::main);
    for (std::size_t g = 0; g < found.groups.size(); ++g)
      if (found.groups[g]) found.find_group(g);
    return found;
  }

 private:
  static constexpr std::size_t kernel_of(const step_record& step) {
    return index_of(Program::plan.template at<kernel_step>(step.index).kernel);
  }
  constexpr void add(section_id section) { add(Program::plan.section(section).steps); }
  constexpr void add(record_list<step_record> steps) {
    for (const step_record& step : Program::plan[steps]) add(step);
  }
  constexpr void add(const step_record& step) {
    const auto number = index_of(step.index);
    switch (step.kind) {
    case step_kind::kernel: kernels[kernel_of(step)] = true; return;
    case step_kind::epilogue: return add(Program::plan.template at<epilogue_step>(step.index).parts);
    case step_kind::accumulation: return add(Program::plan.template at<accumulation_step>(step.index).parts);
    case step_kind::placed_product: return add(Program::plan.template at<placed_product_step>(step.index).parts);
    case step_kind::launch_batch: groups[number] = true; return;
    case step_kind::mapped_section: return add(Program::plan.template at<mapped_section_step>(step.index).section);
    case step_kind::scan:
      scans[number] = is_block_loop(Program::plan, Program::plan.template at<scan_step>(step.index));
      if (scans[number]) return;
      add_moving(Program::plan.template at<scan_step>(step.index));
      break;
    case step_kind::while_loop:
      while_loops[number] = is_block_loop(Program::plan, Program::plan.template at<while_step>(step.index));
      if (while_loops[number]) return;
      break;
    case step_kind::cond:
    case step_kind::product:
    case step_kind::exchange:
    case step_kind::axis_slice:
    case step_kind::ffi: break;
    }
    for_each_body(Program::plan, step, [&](section_id body) { add(body); });
  }
  /// Decides whether a batch of launches is one kernel. If slices move in it, its parts are launched one by one.
  constexpr void find_group(std::size_t number) {
    const auto parts = Program::plan[Program::plan.template at<launch_batch_step>(static_cast<int>(number)).parts];
    groups[number] = plain::all_of(parts, [&](const step_record& part) { return !moving[kernel_of(part)]; });
    if (!groups[number])
      for (const step_record& part : parts) kernels[kernel_of(part)] = true;
  }
  constexpr void add_moving(const scan_step& loop) {
    for_each_stacked_array(Program::plan, loop, [&](const stacked_array& x) {
      if (!x.in_place) return;
      for_each_buffer(Program::plan, loop.body, x.kind, x.number,
                      [&](buffer_id slice) { add_moving(loop.body, slice); });
    });
  }
  /// Only kernels use a slice that lies in place: see `moves`.
  constexpr void add_moving(section_id body, buffer_id slice) {
    for_each_step_using(Program::plan, body, slice, [&](const step_record& user) { moving[kernel_of(user)] = true; });
  }
};

/// The kernels of a batch of launches, each once, and the number of each part's kernel among them.
template <class Program, std::size_t Number> struct group_kernels {
  static constexpr auto parts = Program::plan[Program::plan.template at<launch_batch_step>(Number).parts];
  static constexpr std::size_t size = parts.size();
  std::array<int, size> kernels{}, of_parts{};
  std::size_t count = 0;

  static constexpr group_kernels find() {
    group_kernels found;
    for (std::size_t k = 0; k < size; ++k) {
      const int kernel = static_cast<int>(Program::plan.template at<kernel_step>(parts[k].index).kernel);
      std::size_t known = 0;
      while (known < found.count && found.kernels[known] != kernel) ++known;
      if (known == found.count) found.kernels[found.count++] = kernel;
      found.of_parts[k] = static_cast<int>(known);
    }
    return found;
  }
};

/// Launches the parts of a batch of launches.
template <launch_api Api, class Program, std::size_t Number>
status launch_group(group_part part, const launch_context<Api>& where) {
  static constexpr auto found = group_kernels<Program, Number>::find();
  constexpr bool reduces =
      Program::plan.template at<kernel_record>(found.kernels[0]).result == kernel_result::reduction;
  const plain_span<const int> kernels(found.of_parts);
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    if constexpr (reduces)
      return launch_reduction_group<Api, typename program_kernel<Program, found.kernels[K]>::type...>(kernels, part,
                                                                                                      where);
    else
      return launch_elementwise_group<Api, typename program_kernel<Program, found.kernels[K]>::type...>(kernels, part,
                                                                                                        where);
  }(std::make_index_sequence<found.count>{});
}

/// The functions, in the order of the program's records.
template <launch_api Api, class Program> struct kernel_table {
  static constexpr auto launched = launched_records<Program>::find();
  template <std::size_t I> static constexpr kernel_launcher<Api> kernel() {
    using kernel_type = typename program_kernel<Program, I>::type;
    if constexpr (launched.moving[I]) return &launch_kernel<Api, typename made_moving<kernel_type>::type>;
    else if constexpr (launched.kernels[I]) return &launch_kernel<Api, kernel_type>;
    else return nullptr;
  }
  template <std::size_t... I> static constexpr auto make_kernels(std::index_sequence<I...>) {
    return std::array<kernel_launcher<Api>, sizeof...(I)>{kernel<I>()...};
  }
  static constexpr auto kernels = make_kernels(std::make_index_sequence<kernel_count<Program>>{});

  template <std::size_t I> static constexpr group_launcher<Api> group() {
    if constexpr (launched.groups[I]) return &launch_group<Api, Program, I>;
    else return nullptr;
  }
  template <std::size_t... I> static constexpr auto make_groups(std::index_sequence<I...>) {
    return std::array<group_launcher<Api>, sizeof...(I)>{group<I>()...};
  }
  static constexpr auto groups =
      make_groups(std::make_index_sequence<index_of(Program::plan.template size<launch_batch_step>())>{});

  template <class Step> static constexpr const auto& is_loop() {
    if constexpr (std::is_same_v<Step, scan_step>) return launched.scans;
    else return launched.while_loops;
  }
  template <class Step, std::size_t I> static constexpr loop_launcher<Api> loop() {
    if constexpr (is_loop<Step>()[I]) return &launch_block_loop<Api, Program, Step, I>;
    else return nullptr;
  }
  template <class Step, std::size_t... I> static constexpr auto make_loops(std::index_sequence<I...>) {
    return std::array<loop_launcher<Api>, sizeof...(I)>{loop<Step, I>()...};
  }
  template <class Step>
  static constexpr auto loops =
      make_loops<Step>(std::make_index_sequence<index_of(Program::plan.template size<Step>())>{});

  static constexpr launchers_by<Api> launchers{kernels.data(),
                                               groups.data(),
                                               loops<scan_step>.data(),
                                               loops<while_step>.data(),
                                               {launched.scans.data(), launched.while_loops.data()}};
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
