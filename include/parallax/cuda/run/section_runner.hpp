// Enqueues the steps of one section: on one device for the main one, on each device of its mesh for a mapped one.
#pragma once

#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/exchange_queue.hpp>
#include <parallax/cuda/run/steps/batch_addresses.hpp>
#include <parallax/cuda/run/steps/captured_loops.hpp>
#include <parallax/cuda/run/steps/epilogue_steps.hpp>
#include <parallax/cuda/run/steps/launchers.hpp>
#include <parallax/cuda/run/steps/loop_steps.hpp>
#include <parallax/cuda/run/steps/product_runner.hpp>
#include <parallax/program/kernel_arguments.hpp>
#include <parallax/program/section_steps.hpp>
#include <parallax/runtime/ffi_places.hpp>
#include <parallax/runtime/result_memory.hpp>

#include <algorithm>
#include <bit>
#include <deque>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Whether memory on this device is lent for a result.
template <device_api Api> bool is_given_on(const device<Api>& on, given_memory given, std::size_t number) {
  if (given.empty()) return false;
  const allocation<Api>* const memory = allocation_of<Api>(given[number].on_device);
  return memory != nullptr && &memory->home == &on;
}

/// Allocates memory on a device for a section's outputs that have none yet, and that no memory there is lent for.
template <device_api Api>
void take_outputs(const section_plan& section, device<Api>& on, given_memory given, recycled_vector<buffer>& outputs) {
  outputs.resize(section.outputs().size());
  result_block<Api> memory(on);
  for (const buffer_record& each : section.buffers()) {
    if (each.kind != buffer_kind::output) continue;
    buffer& own = outputs[index_of(each.number)];
    if (is_given_on(on, given, index_of(each.number))) own = given[index_of(each.number)].on_device;
    else if (own.is_null()) memory.expect(section.bytes_of(each));
  }
  for (const buffer_record& each : section.buffers())
    if (each.kind == buffer_kind::output && outputs[index_of(each.number)].is_null())
      outputs[index_of(each.number)] = memory.take(section.bytes_of(each));
}

/// The kind of exchanges among these devices in a graph.
template <device_api Api> captured_exchange exchange_in_graph(const mesh<Api>& all) {
  if (all.is_alone()) return captured_exchange::copy;
  return all.is_one_of_each_process() ? captured_exchange::of_processes : captured_exchange::none;
}

template <device_api Api> class section_runner {
 public:
  using api = Api;
  using call_function = function_ref<void(const call_step&, section_runner&)>;
  /// Gives the first byte of the section's value `number` at a position, when it is used first.
  using value_function = function_ref<std::byte*(std::size_t number, int position)>;

  const section_plan section;
  const mesh<Api> all;
  recycled_vector<recycled_vector<buffer>> outputs; ///< by position, by output

  section_runner(backend<Api>& of, const section_plan& run, const program_launchers<Api>& launchers, mesh<Api> devices,
                 value_function values, std::vector<std::byte*> slot_memory = {})
      : section(run),
        all(std::move(devices)),
        owner(of),
        launch(launchers),
        value_at(values),
        memory_of_slots(std::move(slot_memory)),
        pointers(section.buffers().size(), std::vector<std::byte*>(index_of(all.size()))),
        matrices(index_of(all.size())),
        exchanges(of, all) {}
  section_runner(const section_runner&) = delete; // what is enqueued refers to its members
  section_runner& operator=(const section_runner&) = delete;

  /// Allocates memory for slots, which share one arena on each device, and for outputs that have none yet and that no
  /// memory here is lent for.
  void prepare(given_memory given = {}) {
    place_slots();
    outputs.resize(index_of(all.size()));
    for (int p = 0; p < all.size(); ++p) {
      auto& own_outputs = outputs[index_of(p)];
      take_outputs(section, *all.devices[index_of(p)], given, own_outputs);
      for (std::size_t i = 0; i < pointers.size(); ++i)
        if (const buffer_record& each = section.buffers()[i]; each.kind == buffer_kind::output)
          pointers[i][index_of(p)] = address_of<Api>(own_outputs[index_of(each.number)]);
    }
  }

  /// Sets the address of a buffer; for each buffer that is used, instead of `prepare`.
  void set_address(buffer_id id, int position, std::byte* address) {
    pointers[index_of(id)][index_of(position)] = address;
    matrices.forget(position);
  }
  /// Sets the memory for the addresses of matrices, as `batch_addresses` needs it.
  void set_addresses_of_matrices(int position, std::byte* memory) { matrices.lie_at(position, memory); }
  /// Writes the addresses of matrices for all work that is enqueued or captured from now on.
  void write_addresses_of_matrices(int position) {
    matrices.write(section, *all.devices[index_of(position)], position,
                   [&](buffer_id id) { return place_of(id, position); });
  }

  void run(call_function call) {
    run_steps(section.steps(), call);
    exchanges.finish();
  }

  // What has been run

  bool is_used(buffer_id id) const { return pointers[index_of(id)][0] != nullptr; }

  /// A buffer's first byte at a position, for work that is enqueued from now on: waits for exchanges that use the
  /// buffer.
  std::byte* data(buffer_id id, int position) {
    exchanges.need(id);
    return place_of(id, position);
  }
  /// A buffer's first byte at a position, without waiting for exchanges.
  std::byte* place_of(buffer_id id, int position) {
    std::byte*& pointer = pointers[index_of(id)][index_of(position)];
    const buffer_record& buffer = section.buffer_at(id);
    if (pointer == nullptr && buffer.kind == buffer_kind::value) pointer = value_at(index_of(buffer.number), position);
    return pointer;
  }

  // A part of a step

  /// A loop at one position.
  void run_at(const kernel_step& step, int p) {
    kernel_arguments a;
    operand operands[max_accesses];
    constant_bits constants[max_accesses];
    fill(step, a, operands, constants, p);
    if (!movements.empty()) {
      const movement& own = movements[index_of(p)];
      a.round = own.round;
      operand* next = operands;
      for (const operand_record& from : section.plan[step.operands]) {
        if (from.buffer != buffer_id::none) next->start = own.bytes[index_of(from.buffer)];
        ++next;
      }
    }
    const device<Api>& on = *all.devices[index_of(p)];
    on.activate();
    check(launch.kernels[index_of(step.kernel)](a, on.context()), on.number);
  }

  /// The addresses of a product's matrices, for one call; null if the library goes along strides.
  void* const* addresses_for(const product_step& step, buffer_id result, int p) {
    if (step.batch.count < 2) return nullptr;
    write_addresses_of_matrices(p);
    return matrices.of(step, result, p);
  }

  // Bodies of loops and branches

  bool decides = false;                     ///< whether work is captured, and its nodes may be conditional
  captured_exchanges* noted = nullptr;      ///< the graph's, if work is captured
  std::vector<bool> going;                  ///< by position: whether it runs the steps; empty if all do
  std::vector<std::byte*> memory_of_bodies; ///< by position: memory for bodies' slots; empty if bodies allocate it
  bool runs_at(int position) const { return going.empty() || going[index_of(position)]; }
  int first_position() const {
    int first = 0;
    while (!runs_at(first)) ++first;
    return first;
  }
  /// Calls `f` with each position; `f` enqueues about `launches` launches.
  void run_at_positions(std::size_t launches, function_ref<void(int)> f) const {
    if (noted == nullptr && launches * index_of(all.size()) >= least_launches) return owner.threads.run(all.size(), f);
    for (int p = 0; p < all.size(); ++p) f(p);
  }
  /// A runner of a body on the same devices, with the memory for bodies from byte `behind` on.
  section_runner body_runner(section_id body, std::size_t behind = 0) const {
    std::vector<std::byte*> memory = memory_of_bodies;
    for (std::byte*& each : memory) each += behind;
    return {*this, body, std::move(memory)};
  }
  void place_slots() {
    scratch_array<std::size_t, 32> slot_offsets(index_of(section.section.slot_count) + 1);
    section.plan_slots(slot_offsets);
    const std::size_t end = aligned(slot_offsets[slot_offsets.size() - 1]);
    for (int p = 0; p < all.size(); ++p) {
      std::byte* const first = arena(p, end + bytes_of_matrix_addresses(section));
      matrices.lie_at(p, first + end);
      for (std::size_t i = 0; i < pointers.size(); ++i)
        if (const buffer_record& buffer = section.buffers()[i]; buffer.kind == buffer_kind::slot)
          pointers[i][index_of(p)] = first + section.place_of(buffer, slot_offsets);
    }
  }
  /// Sets the addresses of the arguments and outputs of a loop's body.
  void place(plain_span<std::byte* const> arguments, plain_span<std::byte* const> results, int position) {
    int next = 0;
    for (const buffer_record& each : section.buffers()) {
      const buffer_id buffer{next++};
      const auto number = index_of(each.number);
      if (each.kind == buffer_kind::value) set_address(buffer, position, arguments[number]);
      if (each.kind == buffer_kind::output) set_address(buffer, position, results[number]);
    }
  }
  /// Sets the bytes by which arguments and outputs of a body move with each round; the device counts the rounds at
  /// `round`.
  void move(const std::int64_t* round, plain_span<const std::int64_t> arguments, plain_span<const std::int64_t> results,
            int position) {
    movements.resize(index_of(all.size()));
    movement& own = movements[index_of(position)];
    own.round = round;
    for (const buffer_record& each : section.buffers()) {
      const auto number = index_of(each.number);
      switch (each.kind) {
      case buffer_kind::value: own.bytes.push_back(arguments[number]); break;
      case buffer_kind::output: own.bytes.push_back(results[number]); break;
      case buffer_kind::slot: own.bytes.push_back(0); break;
      }
    }
  }

 private:
  /// For a body, all of whose values have addresses.
  struct all_are_placed {
    std::byte* operator()(std::size_t, int) const { return nullptr; }
  };
  static constexpr all_are_placed all_placed{};

  section_runner(const section_runner& whole, section_id body, std::vector<std::byte*> slot_memory)
      : section_runner(whole.owner, {whole.section.plan, body, whole.section.extents}, whole.launch, whole.all,
                       all_placed, std::move(slot_memory)) {
    decides = whole.decides;
    noted = whole.noted;
  }

  backend<Api>& owner;
  const program_launchers<Api>& launch;
  value_function value_at;
  epilogue_steps<Api> epilogues;
  recycled_vector<buffer> arenas;
  std::vector<std::byte*> memory_of_slots;       ///< by position; allocated if empty
  std::vector<std::vector<std::byte*>> pointers; ///< by buffer, by position
  batch_addresses<Api> matrices;

  struct movement {
    const std::int64_t* round = nullptr;
    std::vector<std::int64_t> bytes; ///< by buffer
  };
  std::vector<movement> movements;       ///< by position; empty if nothing moves
  std::vector<const step_record*> apart; ///< steps that are to be enqueued next

  exchange_queue<Api> exchanges;

  struct step_runner {
    section_runner& self;
    call_function call;

    void operator()(const kernel_step& step) const { self.run_everywhere(step); }
    void operator()(const product_step& step) const { product_runner(self).run(step); }
    void operator()(const epilogue_step& step) const {
      if (product_runner(self).accumulates(step)) return self.run_everywhere(step);
      if (!self.everywhere() || step.base != buffer_id::none || !self.run_epilogue(step))
        self.run_steps(self.section.plan[step.parts], call);
    }
    void operator()(const concurrent_step& step) const { self.run_everywhere(step); }
    void operator()(const exchange_step& step) const {
      if (self.all.is_alone()) self.run_alone(step);
      else self.add_exchange(step);
    }
    void operator()(const axis_slice_step& step) const { self.run_everywhere(step); }
    void operator()(const ffi_step& step) const { self.run_ffi(step); }
    void operator()(const call_step& step) const { call(step, self); }
    void operator()(const scan_step& step) const { self.run_loop(step, call); }
    void operator()(const cond_step& step) const { self.run_loop(step, call); }
    void operator()(const while_step& step) const { self.run_loop(step, call); }
  };
  /// The body has collectives of its own, which run behind the waiting ones.
  template <class Step> void run_loop(const Step& step, call_function call) {
    if constexpr (!std::is_same_v<Step, cond_step>)
      if (launch.whole.have(section.plan, step)) return run_whole(step);
    exchanges.finish();
    if (decides && !is_unrolled(step)) captured_loops(*this).run(step, call);
    else loop_steps(*this, owner).run(step, call);
  }
  bool is_unrolled(const scan_step& step) const { return capture_estimate::is_unrolled(section, step, conditions()); }
  capture_conditions conditions() const {
    return {exchange_in_graph(all), true, owner.options.deterministic, launch.whole};
  }
  static bool is_unrolled(const while_step&) { return false; }
  static bool is_unrolled(const cond_step&) { return false; }
  /// Runs all rounds as one kernel.
  template <class Step> void run_whole(const Step& step) {
    recycled_vector<std::byte*> operands(index_of(step.operands.count)), results(index_of(step.results.count));
    recycled_vector<std::int32_t> axis_indices(section.mesh().size());
    for (int p = 0; p < all.size(); ++p) {
      if (!runs_at(p)) continue;
      std::size_t next = 0;
      for (const scan_operand& x : section.plan[step.operands]) operands[next++] = data(x.buffer, p);
      next = 0;
      for (const scan_result& y : section.plan[step.results]) results[next++] = data(y.buffer, p);
      for (std::size_t axis = 0; axis < axis_indices.size(); ++axis)
        axis_indices[axis] = static_cast<std::int32_t>(all.axis_index(p, 1U << axis));
      const device<Api>& on = *all.devices[index_of(p)];
      on.activate();
      check(
          launch.of(section.plan, step)({operands.data(), results.data(), rounds_of(step), axis_indices}, on.context()),
          on.number);
    }
  }
  std::int64_t rounds_of(const scan_step& step) const { return section.extents[step.count]; }
  static std::int64_t rounds_of(const while_step&) { return 0; }
  /// Memory for the slots of one device: new memory, or, for a body, the memory that its loop has for it.
  std::byte* arena(int position, std::size_t bytes) {
    if (memory_of_slots.empty()) {
      arenas.push_back(allocate<Api>(*all.devices[index_of(position)], bytes));
      return address_of<Api>(arenas.back());
    }
    std::byte* const first = memory_of_slots[index_of(position)];
    memory_of_bodies.push_back(first + aligned(bytes));
    return first;
  }
  void run_steps(plain_span<const step_record> list, call_function call) {
    const bool shares = noted == nullptr && all.size() > 1 && owner.threads.size() > 1;
    for (const step_record& step : list) {
      const bool is_exchange = step.kind == step_kind::exchange;
      if (noted == nullptr && exchanges.may_start_aside() && !is_exchange && !wants_waiting(step)) {
        run_apart();
        exchanges.start_aside();
      }
      if (noted == nullptr) owner.note_step();
      if (shares && is_apart(step)) {
        add_apart(step);
      } else {
        run_apart();
        visit_step(section.plan, step, step_runner{*this, call});
      }
    }
    run_apart();
  }

  // Steps that each device does by itself, up to the next one in which they meet: by several threads of the host

  /// Waking threads costs as much as some launches.
  static constexpr std::size_t least_launches = 12;

  bool is_apart(const step_record& step) {
    switch (step.kind) {
    case step_kind::kernel:
    case step_kind::concurrent:
    case step_kind::product:
    case step_kind::axis_slice: return true;
    case step_kind::epilogue: return product_runner(*this).accumulates(section.plan.at<epilogue_step>(step.index));
    case step_kind::exchange:
    case step_kind::call:
    case step_kind::ffi:
    case step_kind::scan:
    case step_kind::cond:
    case step_kind::while_loop: return false;
    }
    return false;
  }
  void add_apart(const step_record& step) {
    visit_buffers(section.plan, step, [&](buffer_id id) {
      if (!exchanges.orders(id)) return;
      run_apart(); // goes first, as it does not wait
      exchanges.need(id);
    });
    apart.push_back(&step);
  }
  void run_apart() {
    if (apart.empty()) return;
    const auto steps = std::exchange(apart, {});
    const auto run_at = [&](int p) {
      if (!runs_at(p)) return;
      for (const step_record* step : steps) visit_step(section.plan, *step, apart_runner{*this, p});
    };
    run_at_positions(steps.size(), run_at);
  }
  struct apart_runner {
    section_runner& self;
    int position;

    void operator()(const kernel_step& step) const { self.run_at(step, position); }
    void operator()(const concurrent_step& step) const { self.run_at(step, position); }
    void operator()(const product_step& step) const { self.run_at(step, position); }
    void operator()(const epilogue_step& step) const { self.run_at(step, position); }
    void operator()(const axis_slice_step& step) const { self.run_at(step, position); }
    // not apart: see `is_apart`
    void operator()(const exchange_step&) const {}
    void operator()(const call_step&) const {}
    void operator()(const ffi_step&) const {}
    void operator()(const scan_step&) const {}
    void operator()(const while_step&) const {}
    void operator()(const cond_step&) const {}
  };
  bool everywhere() const {
    return plain::all_of(going, [](bool goes) { return goes; });
  }
  void add_exchange(const exchange_step& step) {
    for (int p = 0; p < all.size(); ++p)
      if (runs_at(p)) data(step.source, p), data(step.result, p);
    const int first = first_position();
    exchanges.add(runner_of(step), step.result, {data(step.source, first), section.bytes_of(step.source)},
                  {data(step.result, first), section.bytes_of(step.result)});
  }
  exchange_runner<Api> runner_of(const exchange_step& step) {
    return {owner, all, section, step, addresses(step.source), addresses(step.result), going, noted};
  }
  const std::vector<std::byte*>& addresses(buffer_id id) const { return pointers[index_of(id)]; }
  /// Whether a step needs a result of a waiting exchange.
  bool wants_waiting(const step_record& step) const {
    bool wants = step.kind == step_kind::call;
    visit_buffers(section.plan, step, [&](buffer_id id) { wants = wants || exchanges.makes(id); });
    return wants;
  }

  /// An exchange that is a copy on each device, and waits for no other device.
  void run_alone(const exchange_step& step) {
    for (int p = 0; p < all.size(); ++p) data(step.source, p), data(step.result, p);
    runner_of(step).run_without_nccl();
  }
  /// A step at each position that runs it.
  template <class Step> void run_everywhere(const Step& step) {
    for (int p = 0; p < all.size(); ++p)
      if (runs_at(p)) run_at(step, p);
  }

  void run_at(const axis_slice_step& step, int p) {
    const auto count = index_of(all.own_axis_size(step.axes.bits));
    const auto rows = index_of(section.extents[step.outer]);
    const std::size_t row = index_of(section.extents[step.inner]) * size_of(section.type_of(step.source));
    const auto index = index_of(all.own_axis_index(p, step.axes.bits));
    all.devices[index_of(p)]->copy_rows(data(step.result, p), row, data(step.source, p) + index * row, count * row, row,
                                        rows);
  }

  /// Launches the parts of a step as one kernel, or one by one if they are no group or their operands move with rounds.
  void run_at(const concurrent_step& step, int p) {
    const plain_span<const step_record> parts = section.plan[step.parts];
    const group_launcher<Api> launcher = launch.of(section.plan, step);
    if (launcher == nullptr || !movements.empty()) {
      for (const step_record& part : parts) run_at(section.plan.at<kernel_step>(part.index), p);
      return;
    }
    operand operands[max_accesses];
    constant_bits constants[max_accesses];
    auto part = [&](int number, kernel_arguments& a) {
      fill(section.plan.at<kernel_step>(parts[index_of(number)].index), a, operands, constants, p);
    };
    for (const step_record& each : parts) // which may have work done on other devices
      visit_buffers(section.plan, each, [&](buffer_id id) { data(id, p); });
    const device<Api>& on = *all.devices[index_of(p)];
    on.activate();
    check(launcher(part, on.context()), on.number);
  }
  void fill(const kernel_step& step, kernel_arguments& a, operand* operands, constant_bits* constants, int position) {
    section.fill(
        step, a, operands, constants, all.devices[index_of(position)]->nothing_to_read(),
        [&](buffer_id id) { return data(id, position); },
        [&](mesh_axis axis) { return all.axis_index(position, 1U << static_cast<int>(axis)); });
  }

  void run_ffi(const ffi_step& step) {
    const ffi_function& function = *section.plan.ffi_functions[step.function];
    if (!function.cuda)
      throw error("custom_call: the rules have no function cuda, and this program runs on CUDA devices; give them one, "
                  "or choose the host backend");
    using stream = typename Api::stream;
    if (function.stream_type != &name_of_type<stream>)
      throw error("custom_call: the rules' cuda takes another type of stream than this backend has");
    for (int p = 0; p < all.size(); ++p) {
      if (!runs_at(p)) continue;
      const device<Api>& on = *all.devices[index_of(p)];
      on.activate();
      const ffi_places call(section, step, [&](buffer_id id) { return data(id, p); });
      const stream enqueued_on = on.stream();
      function.cuda(&enqueued_on, call.arguments());
    }
  }

  bool run_epilogue(const epilogue_step& epilogue) {
    const step_record first = section.plan[epilogue.parts][0]; // the product
    if (epilogue.is_placed) return product_runner(*this).run_placed(epilogue);
    return epilogues.run(
        all, section, epilogue, section.plan.at<product_step>(first.index),
        [&](buffer_id id, int p) { return data(id, p); },
        [this](function_ref<void(int)> f) { run_at_positions(2, f); });
  }

  void run_at(const product_step& step, int p) { product_runner(*this).run_at(step, p); }
  void run_at(const epilogue_step& step, int p) { product_runner(*this).run_at(step, p); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
