// Runs the steps of one section: the main one in the calling thread, a mapped one on each of its devices.
#pragma once

#include <parallax/arrays/memory/slices.hpp>
#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/team.hpp>
#include <parallax/host/kernels/loop/nothing_to_read.hpp>
#include <parallax/host/kernels/products/run_product.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/run/exchange_steps.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/program/kernel_arguments.hpp>
#include <parallax/program/section_steps.hpp>
#include <parallax/runtime/ffi_places.hpp>
#include <parallax/runtime/loop_places.hpp>
#include <parallax/runtime/resolved_product.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/section_plan.hpp>
#include <parallax/runtime/value.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// A device's place in a section's run.
struct device_place {
  team* together = nullptr;
  int position = 0;
};

class section_runner {
 public:
  using call_function = function_ref<void(const mapped_section_step&, section_runner&)>;

  const section_plan section;
  recycled_vector<runtime_value>* values = nullptr; ///< of the main section
  recycled_vector<buffer> outputs;

  section_runner(const section_plan& run, const kernel_function* functions, device_place where)
      : section(run), kernels(functions), device(where), pointers(section.buffers().size()) {}
  /// If an exception ends a run of several processes, messages may still be read from or written to its memory.
  ~section_runner() {
    if (device.together == nullptr || device.together->whole() == nullptr) return;
    if (std::uncaught_exceptions() > exceptions) device.together->whole()->of().keep_for_ever(arena, outputs);
  }
  section_runner(const section_runner&) = delete;
  section_runner& operator=(const section_runner&) = delete;

  /// Allocates memory for slots, which share one arena, and for outputs that have none yet and that no memory is lent
  /// for.
  void prepare(const recycled_vector<const std::byte*>* arguments, given_memory given = {}) {
    outputs.resize(section.outputs().size());
    scratch_array<bool, 32> is_new(outputs.size()); // whether an output is in no argument's memory
    for (std::size_t k = 0; k < outputs.size(); ++k) is_new[k] = outputs[k].is_null();
    for (const buffer_record& each : section.buffers()) {
      const auto number = index_of(each.number);
      if (each.kind == buffer_kind::output && is_new[number])
        outputs[number] = given.empty() ? buffer::allocate(section.bytes_of(each))
                                        : buffer::borrow(given[number].first, section.bytes_of(each));
    }
    place_slots([&](const buffer_record& slot) { return slot.output >= 0 && is_new[index_of(slot.output)]; });
    std::size_t next = 0;
    for (const buffer_record& each : section.buffers()) {
      std::byte*& pointer = pointers[next++];
      const auto number = index_of(each.number);
      switch (each.kind) {
      case buffer_kind::slot: break;
      case buffer_kind::output: pointer = outputs[number].data(); break;
      case buffer_kind::bound:
        pointer = nullptr;
        if (arguments && number < arguments->size()) pointer = const_cast<std::byte*>((*arguments)[number]);
        break;
      }
    }
  }

  void run(call_function call) { run_steps(section.steps(), call); }

  std::byte* data(buffer_id id) {
    const buffer_record& of = section.buffer_at(id);
    if (values && of.kind == buffer_kind::bound) return (*values)[index_of(of.number)].host_data();
    return pointers[index_of(id)];
  }

 private:
  const kernel_function* kernels;
  device_place device;
  buffer arena;
  scratch_array<std::byte*, 32> pointers; ///< by buffer
  int exceptions = std::uncaught_exceptions();

  /// `lies_in_output(buffer)`: whether a slot's buffer lies in the memory of an output.
  template <class LiesInOutput> void place_slots(const LiesInOutput& lies_in_output) {
    scratch_array<std::size_t, 32> slot_offsets(index_of(section.section.slot_count) + 1);
    section.plan_slots(slot_offsets, lies_in_output);
    if (std::size_t size = slot_offsets[slot_offsets.size() - 1]; size > 0) arena = buffer::allocate(size);
    std::size_t next = 0;
    for (const buffer_record& each : section.buffers()) {
      std::byte*& pointer = pointers[next++];
      if (each.kind != buffer_kind::slot) continue;
      pointer = lies_in_output(each) ? outputs[index_of(each.output)].data()
                                     : arena.data() + section.place_of(each, slot_offsets);
    }
  }
  void place_slots() {
    place_slots([](const buffer_record&) { return false; });
  }
  /// Sets the addresses of the arguments and outputs of a loop's body.
  void place(plain_span<std::byte* const> arguments, plain_span<std::byte* const> results) {
    std::size_t next = 0;
    for (const buffer_record& each : section.buffers()) {
      std::byte*& pointer = pointers[next++];
      if (each.kind == buffer_kind::bound) pointer = arguments[index_of(each.number)];
      if (each.kind == buffer_kind::output) pointer = results[index_of(each.number)];
    }
  }

  struct step_runner {
    section_runner& self;
    call_function call;

    void operator()(const kernel_step& step) const { self.run_kernel(step); }
    void operator()(const product_step& step) const { self.run_product_step(step); }
    void operator()(const epilogue_step& step) const { self.run_steps(self.section.plan[step.parts], call); }
    void operator()(const placed_product_step& step) const { self.run_steps(self.section.plan[step.parts], call); }
    void operator()(const accumulation_step& step) const {
      const plain_span<const step_record> parts = self.section.plan[step.parts];
      if (!self.may_accumulate(step)) return self.run_steps(parts, call);
      if (parts[0].kind == step_kind::epilogue) { // the sums beside the product
        const auto inner = self.section.plan[self.section.plan.at<epilogue_step>(parts[0].index).parts];
        self.run_steps(inner.subspan(1), call);
      }
      self.run_accumulation(step);
    }
    void operator()(const launch_batch_step& step) const { self.run_steps(self.section.plan[step.parts], call); }
    void operator()(const exchange_step& step) const {
      run_exchange(self.section, step, *self.device.together, self.device.position, self.data(step.source),
                   self.data(step.result));
    }
    void operator()(const axis_slice_step& step) const { self.run_axis_slice(step); }
    void operator()(const mapped_section_step& step) const { call(step, self); }
    void operator()(const scan_step& step) const { self.run_scan(step, call); }
    void operator()(const while_step& step) const { self.run_while(step, call); }
    void operator()(const cond_step& step) const { self.run_cond(step, call); }
    void operator()(const ffi_step& step) const { self.run_ffi(step); }
  };
  void run_steps(plain_span<const step_record> steps, call_function call) {
    for (const step_record& step : steps) visit_step(section.plan, step, step_runner{*this, call});
  }

  /// A runner of another section in the same place.
  section_runner body_runner(section_id body) const {
    return section_runner({section.plan, body, section.extents}, kernels, device);
  }
  void run_scan(const scan_step& step, call_function call) {
    const scan_rounds rounds{section.extents[step.count], step.reverse};
    loop_places places(section, step.operands, step.results, [this](buffer_id id) { return data(id); });
    bring_in(places, rounds.count, step.results);
    if (rounds.count == 0) return copy_carries(places, {.left = -1}, step.results);
    section_runner body = body_runner(step.body);
    body.place_slots();
    for (std::int64_t round = 0; round < rounds.count; ++round) {
      places.go_to(rounds[round]);
      body.place(places.arguments(), places.outputs());
      body.run(call);
    }
  }
  void run_while(const while_step& step, call_function call) {
    loop_places places(section, step.operands, step.results, [this](buffer_id id) { return data(id); });
    bring_in(places, 0, step.results);
    section_runner predicate = body_runner(step.predicate), body = body_runner(step.body);
    predicate.place_slots();
    body.place_slots();
    std::byte holds{};
    std::byte* const answer = &holds;
    loop_round round;
    while (true) {
      places.go_to(round);
      predicate.place(places.arguments(), {&answer, 1});
      predicate.run(call);
      if (holds == std::byte{0}) break;
      body.place(places.arguments(), places.outputs());
      body.run(call);
      round.is_first = false;
      --round.left;
    }
    copy_carries(places, round, step.results);
  }
  void run_cond(const cond_step& step, call_function call) {
    std::int32_t chosen = 0;
    std::memcpy(&chosen, data(step.index), sizeof chosen);
    section_runner branch = body_runner(section.plan[step.branches][index_of(chosen)]);
    branch.place_slots();
    branch.place(places_of(step.operands), places_of(step.results));
    branch.run(call);
  }
  void run_ffi(const ffi_step& step) {
    const ffi_places call(section, step, [this](buffer_id id) { return data(id); });
    section.plan.ffi_functions[step.function]->host(call.arguments());
  }
  recycled_vector<std::byte*> places_of(record_list<buffer_id> buffers) {
    recycled_vector<std::byte*> places;
    for (buffer_id each : section.plan[buffers]) places.push_back(data(each));
    return places;
  }
  void bring_in(loop_places& places, std::int64_t rounds, record_list<scan_result> results) const {
    places.bring_in(rounds, [&](std::byte* to, const std::byte* from, std::size_t number) {
      copy_bytes(to, from, section.bytes_of(section.plan[results][number].buffer));
    });
  }
  void copy_carries(loop_places& places, loop_round round, record_list<scan_result> results) const {
    places.copy_carries(round, [&](std::byte* to, const std::byte* from, std::size_t number) {
      copy_bytes(to, from, section.bytes_of(section.plan[results][number].buffer));
    });
  }

  void run_kernel(const kernel_step& step) {
    kernel_arguments a;
    scratch_array<operand, 32> operands(index_of(step.operands.count));
    scratch_array<constant_bits, 32> constants(index_of(step.constants.count));
    section.fill(
        step, a, operands.data(), constants.data(), nothing_to_read(), [this](buffer_id id) { return data(id); },
        [this](mesh_axis axis) {
          return device.together->whole_axis_index(device.position, 1U << static_cast<int>(axis));
        });
    kernels[index_of(step.kernel)](a);
  }

  /// Whether a product is added to its base while it is computed.
  bool may_accumulate(const accumulation_step& step) const {
    return has_accumulation(section.type_of(step.result)) &&
           section.extents[product_of(section.plan, step).depth] <= most_accumulated_depth;
  }
  void run_accumulation(const accumulation_step& step) {
    product_arguments p = product_arguments_of(product_of(section.plan, step));
    p.result = data(step.result);
    p.base = data(step.base);
    p.scale = std::bit_cast<double>(step.scale_bits);
    run_product(p);
  }

  void run_product_step(const product_step& step) {
    product_arguments p = product_arguments_of(step);
    p.result = data(step.result);
    run_product(p);
  }
  product_arguments product_arguments_of(const product_step& step) {
    const resolved_product resolved(section, step);
    product_arguments p{resolved};
    p.left = byte_at(data(step.left), resolved.left_offset);
    p.right = byte_at(data(step.right), resolved.right_offset);
    return p;
  }

  void run_axis_slice(const axis_slice_step& step) {
    team& all = *device.together;
    const unsigned axes = step.axes.bits;
    const std::size_t inner = index_of(section.extents[step.inner]);
    copy_slice_out(data(step.source), data(step.result), section.extents[step.outer], all.group_size(axes),
                   inner * size_of(section.type_of(step.source)), all.axis_index(device.position, axes));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
