// One call of a compiled program on the host: its main section, and the others on their devices.
#pragma once

#include <parallax/arrays/memory/transfers.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/device_pool.hpp>
#include <parallax/host/devices/kept_team.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/run/section_runner.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/runtime/agreement/agreed_call.hpp>
#include <parallax/runtime/guard_message.hpp>
#include <parallax/runtime/section_call.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// One call of a program.
class program_run {
 public:
  /// `registers` are those that the kernels were compiled for.
  program_run(const plan_view& whole, const kernel_function* functions, const char* registers,
              recycled_vector<runtime_value> arguments)
      : plan(whole),
        kernels(functions),
        values(std::move(arguments)),
        agreed(agreement_about(whole, registers, values)),
        extents(agreed.extents_of(whole, values)) {
    check_guards(plan, extents);
    std::erase_if(values, [](const runtime_value& value) { return !value.is_input; });
  }

  /// Runs the program; returns its outputs, which are in the memory that is given for them, or in pieces on devices.
  recycled_vector<runtime_value> run(given_memory given = {}) {
    return agreed.or_fail([&] { return run_here(given); });
  }

 private:
  const plan_view& plan;
  const kernel_function* kernels;
  recycled_vector<runtime_value> values;
  agreed_call agreed;
  resolved_extents extents;

  static agreed_call agreement_about(const plan_view& plan, const char* registers,
                                     const recycled_vector<runtime_value>& values) {
    if (current_device() >= 0) return {}; // a device is refused below
    return {plan, {"the host's registers", registers}, values, [] { return device_pool::instance().size(); }};
  }

  recycled_vector<runtime_value> run_here(given_memory given) {
    section_runner main({plan, section_id::main, extents}, kernels, {});
    if (!given.empty()) check_given(given, plan, extents, [this](std::size_t number) { return on_host(number); });
    values.resize(index_of(main.section.section.value_count));
    main.values = &values;
    main.outputs.resize(main.section.outputs().size());
    bool takes = false;
    for (std::size_t k = 0; k < main.outputs.size(); ++k)
      if (const runtime_value* from = donor_of(k, given);
          from != nullptr && main.section.outputs()[k].value == value_id::none)
        main.outputs[k] = to_change(from->host), takes = true;
    main.prepare(nullptr, given);
    if (takes) given.begin_to_take();
    main.run([&](const mapped_section_step& step, section_runner& caller) { call(step, caller, given); });
    return main_results(main.section, values, std::move(main.outputs));
  }
  /// Memory that results take. Devices' copies of it are forgotten, since its elements change.
  static const buffer& to_change(const buffer& memory) {
    memory.forget_copies();
    return memory;
  }
  /// The argument whose memory a result takes; null if there is none.
  const runtime_value* donor_of(std::size_t result, given_memory given) const {
    const int argument = given.donor_of(result);
    if (argument < 0) return nullptr;
    const runtime_value& value = values[index_of(argument)];
    return value.is_donated && value.on_host && value.host.on_device() == nullptr ? &value : nullptr;
  }

  /// The address of an argument on the host; null if it is not there.
  const std::byte* on_host(std::size_t number) const {
    const runtime_value& value = values[number];
    return value.on_host && value.host.on_device() == nullptr ? value.host.data() : nullptr;
  }

  /// Runs a section on its devices.
  void call(const mapped_section_step& step, section_runner& caller, given_memory given) {
    const section_call section(plan, step, extents, agreed.mesh_of(step.section), device_pool::instance().size(),
                               "set PARALLAX_HOST_DEVICES to have more");
    const section_plan called(plan, section.section, extents);
    recycled_vector<recycled_vector<buffer>> inputs; // by operand, by position
    for (const auto& operand : section.operands) inputs.push_back(pieces_of(caller, section, operand));

    recycled_vector<recycled_vector<buffer>> outputs(section.devices.size());
    for (auto& of_position : outputs) of_position.resize(section.results.size());
    bool takes = false;
    section.for_each_taken(plan, values, given, [&](std::size_t result, std::size_t operand) {
      for (std::size_t p = 0; p < outputs.size(); ++p)
        if (const buffer& piece = inputs[operand][p]; piece.on_device() == nullptr)
          outputs[p][result] = to_change(piece), takes = true;
    });
    std::unique_ptr<team> together = kept_team::take(section.here, section.devices);
    // other processes may take as long as their deadline allows: the device that speaks to them knows it
    together->set_timeout(agreed ? std::chrono::nanoseconds(0) : collective_timeout());
    together->set_whole(agreed.mesh_of(section.section));
    auto body = [&](int position) {
      recycled_vector<const std::byte*> arguments;
      for (const auto& pieces : inputs) arguments.push_back(pieces[index_of(position)].data());
      section_runner instance(called, kernels, {together.get(), position});
      instance.outputs = std::move(outputs[index_of(position)]);
      instance.prepare(&arguments);
      instance.run([](const mapped_section_step&, section_runner&) {});
      outputs[index_of(position)] = std::move(instance.outputs);
    };
    if (takes) given.begin_to_take();
    try {
      device_pool::instance().run(*together, body);
    } catch (...) {
      agreed.keep_for_ever(inputs, outputs);
      throw;
    }
    kept_team::keep(std::move(together));
    section.set_results(called, values, std::move(outputs));
  }

  /// An operand's pieces by position: the argument's own pieces if they lie as the operand needs them, otherwise
  /// copies.
  recycled_vector<buffer> pieces_of(section_runner& caller, const section_call& section,
                                    const section_operand& wanted) {
    const buffer_record& source = caller.section.buffer_at(wanted.source);
    if (source.kind == buffer_kind::bound) {
      const auto& value = values[index_of(source.number)];
      if (section.in_place(value, wanted)) return value.pieces;
    }
    const std::byte* whole = caller.data(wanted.source);
    const std::size_t bytes = caller.section.bytes_of(source);
    recycled_vector<buffer> pieces;
    if (wanted.spread.empty()) {
      // the host's devices share their memory: one copy serves all
      buffer copy = buffer::allocate(bytes);
      copy_bytes(copy.data(), whole, bytes);
      count_host_to_device(bytes * section.devices.size());
      pieces.assign(section.devices.size(), copy);
      return pieces;
    }
    for (std::size_t p = 0; p < section.devices.size(); ++p) {
      pieces.push_back(wanted.piece_of(whole, bytes, section.place_of(p)));
      count_host_to_device(pieces.back().bytes());
    }
    return pieces;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
