// One call of a compiled program on CUDA devices: everything is enqueued, and nothing waited for.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/small_values.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/argument_locations.hpp>
#include <parallax/cuda/run/exchanges/exchange_groups.hpp>
#include <parallax/cuda/run/exchanges/run_state.hpp>
#include <parallax/cuda/run/graph_run.hpp>
#include <parallax/cuda/run/memory_need.hpp>
#include <parallax/cuda/run/operand_pieces.hpp>
#include <parallax/cuda/run/section_runner.hpp>
#include <parallax/processes/world.hpp>
#include <parallax/runtime/agreement/agreed_call.hpp>
#include <parallax/runtime/guard_message.hpp>
#include <parallax/runtime/section_call.hpp>

#include <algorithm>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The main section runs on device 0, the others on the devices that they are mapped to.
template <device_api Api> class program_run {
 public:
  program_run(const plan_view& whole, const program_launchers<Api>& launchers,
              recycled_vector<runtime_value> given_arguments)
      : plan(whole),
        kernels(launchers),
        arguments(std::move(given_arguments)),
        calls(calls_held(whole)),
        agreed(whole, {"CUDA devices", order_of_sums()}, arguments.values,
               [] { return backend<Api>::instance().device_count(); }),
        extents(agreed.extents_of(whole, arguments.values)) {
    agreed.meet(plan);
    check_guards(plan, extents);
    std::erase_if(arguments.values, [](const runtime_value& value) { return !value.is_input; });
  }

  /// Runs the program; its outputs stay on the devices, in the memory there that is lent for them. Throws errors of the
  /// devices' calls, `shape_error`, and `out_of_memory`.
  recycled_vector<runtime_value> run(given_memory given = {}) {
    return agreed.or_fail([&] { return run_here(given); });
  }

 private:
  using runner = section_runner<Api>;
  static std::string_view order_of_sums() {
    return backend<Api>::instance().options.deterministic ? "with PARALLAX_DETERMINISTIC=1" : "";
  }

  /// Holds this process' calls: a user's function runs while the backend is locked, and may call programs that other
  /// processes run too.
  static std::unique_lock<std::recursive_mutex> calls_held(const plan_view& plan) {
    processes::world* const all = processes::current_world();
    if (all == nullptr || all->count() == 1 || plan.all<ffi_step>().empty()) return {};
    return all->hold_calls();
  }

  const plan_view& plan;
  const program_launchers<Api>& kernels;
  argument_locations<Api> arguments;
  std::unique_lock<std::recursive_mutex> calls;
  agreed_call agreed;
  resolved_extents extents;
  backend<Api>* owner = nullptr;
  /// The last section that was called, and its devices; the main section if none was.
  section_id called = section_id::main;
  recycled_vector<int> called_devices;

  recycled_vector<runtime_value> run_here(given_memory given) {
    std::lock_guard lock(backend<Api>::mutex());
    kept_failure::check_kept();
    owner = &backend<Api>::instance();
    try {
      if (given.empty()) return run_main(given);
      check_given(given, plan, extents, [this](std::size_t value) { return arguments.first_byte(value); });
      recycled_vector<runtime_value> results = run_main(given);
      for (std::size_t k = 0; k < given.size(); ++k) copy_into(given[k], results[k]);
      return results;
    } catch (const out_of_memory& failure) {
      if (failure.device() < 0) throw;
      throw failure.with("; the program needs " + need_on(failure.device()).text());
    }
  }

  section_plan section_at(section_id id) const { return {plan, id, extents}; }

  /// Copies a result to memory that is lent for it on a device, unless it is there already.
  void copy_into(const result_memory& given, runtime_value& result) {
    allocation<Api>* const memory = allocation_of<Api>(given.on_device);
    if (memory == nullptr) return;
    const buffer& whole = arguments.at_home(result);
    if (address_of<Api>(whole) != memory->address())
      copy_across<Api>(memory->home, memory->address(), arguments.home(), address_of<Api>(whole), result.bytes());
  }

  recycled_vector<runtime_value> run_main(given_memory given) {
    arguments.bring_to(owner->device_at(0));
    const section_plan main = section_at(section_id::main);
    const mesh<Api> here({}, {&arguments.home()});
    const memory_taken taken = taken_by_main(main, given);
    graph_run<Api> graphs(*owner, main, section_id::main, here, taken);
    const auto source_of = [this](std::size_t number, int) { return arguments.source(number); };
    if (or_settle([&] { return graphs.prepare(source_of, given) && graphs.run(kernels, given); }))
      return main_results(main, arguments.values, std::move(graphs.outputs[0]));
    auto value_at = [this](std::size_t number, int) { return arguments.address(number); };
    const run_state everywhere;
    runner running(*owner, main, kernels, here, everywhere, value_at);
    arguments.values.resize(index_of(main.section.value_count));
    running.outputs = std::move(graphs.outputs);
    running.prepare(given);
    if (taken.any()) given.begin_to_take();
    or_settle(
        [&] { running.run([&](const mapped_section_step& step, runner& caller) { call(step, caller, given); }); });
    graphs.note(running);
    return main_results(main, arguments.values, std::move(running.outputs[0]));
  }

  /// The memory of donated arguments that the main section's results take.
  memory_taken taken_by_main(const section_plan& main, given_memory given) const {
    memory_taken all(1, main.outputs().size());
    for (std::size_t k = 0; k < all.by_position[0].size(); ++k) {
      const int argument = given.donor_of(k);
      if (argument < 0 || main.outputs()[k].value != value_id::none) continue;
      const runtime_value& value = arguments.values[index_of(argument)];
      if (!value.is_donated || !value.on_host) continue;
      all.by_position[0][k] = taken_on(arguments.home(), value.host);
    }
    return all;
  }
  /// Donated memory, if it lies on this device; otherwise null.
  static buffer taken_on(const device<Api>& on, const buffer& memory) {
    const allocation<Api>* const here = allocation_of<Api>(memory);
    if (here == nullptr || &here->home != &on) return {};
    memory.forget_copies();
    return memory;
  }

  /// The memory that the running sections need on a device.
  memory_need need_on(int number) const {
    memory_need need;
    if (number == 0) need += memory_need::of(section_at(section_id::main));
    if (plain::contains(called_devices, number)) need += memory_need::of(section_at(called));
    return need;
  }

  /// Runs a section by `run()`. If that fails, waits until no device uses its memory, before that is released: the
  /// devices' order may not have been enqueued.
  template <class Run> auto or_settle(Run run) {
    try {
      return run();
    } catch (...) {
      owner->settle();
      throw;
    }
  }

  /// Runs a section on its devices.
  void call(const mapped_section_step& step, runner& caller, given_memory given) {
    const section_call section(plan, step, extents, agreed.mesh_of(step.section), owner->device_count(),
                               "set PARALLAX_CUDA_DEVICES_PER_GPU to have more");
    called = section.section;
    called_devices = section.devices;
    const section_plan mapped = section_at(section.section);
    std::vector<device<Api>*> devices;
    for (int number : section.devices) devices.push_back(&owner->device_at(number));
    std::vector<operand_pieces> inputs;
    for (const auto& operand : section.operands)
      inputs.push_back(pieces_of(arguments, caller, section, operand, devices));
    const mesh<Api> all(section.here, devices, agreed.mesh_of(section.section));
    if (all.is_divided_twice()) or_settle([&] { make_cliques(*owner, plan, all, section.section); });
    memory_taken taken(devices.size(), section.results.size());
    section.for_each_taken(plan, arguments.values, given, [&](std::size_t result, std::size_t operand) {
      if (inputs[operand].on_host) return;
      for (std::size_t p = 0; p < devices.size(); ++p)
        taken.by_position[p][result] = taken_on(*devices[p], inputs[operand].pieces[p]);
    });
    graph_run<Api> graphs(*owner, mapped, section.section, all, taken);
    const auto source_of = [&](std::size_t number, int position) -> argument_source {
      const buffer& piece = inputs[number].pieces[index_of(position)];
      if (inputs[number].on_host) return {piece.data(), true};
      return {address_of<Api>(piece), false};
    };
    if (or_settle([&] { return graphs.prepare(source_of, {}) && graphs.run(kernels, given); })) {
      section.set_results(mapped, arguments.values, std::move(graphs.outputs));
      return;
    }
    std::deque<small_values<Api>> small; // by position
    for (device<Api>* each : devices) small.emplace_back(*each);
    for (operand_pieces& each : inputs)
      for (std::size_t p = 0; each.on_host && p < devices.size(); ++p)
        each.small_number = small[p].add(each.pieces[p].data(), each.pieces[p].bytes());
    for (auto& each : small) each.send();
    auto value_at = [&](std::size_t number, int position) {
      const operand_pieces& of = inputs[number];
      const auto p = index_of(position);
      return of.on_host ? small[p].address(of.small_number) : address_of<Api>(of.pieces[p]);
    };
    const run_state everywhere;
    runner running(*owner, mapped, kernels, all, everywhere, value_at);
    running.outputs = std::move(graphs.outputs);
    running.prepare();
    if (taken.any()) given.begin_to_take();
    or_settle([&] { running.run([](const mapped_section_step&, runner&) {}); });
    graphs.note(running);
    section.set_results(mapped, arguments.values, std::move(running.outputs));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
