// Enqueues the steps of one section: on one device for the main one, on each device of its mesh for a mapped one.
#pragma once

#include <parallax/core/function_ref.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/core/plain_algorithms.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/epilogue_steps.hpp>
#include <parallax/cuda/run/run_exchanges.hpp>
#include <parallax/program/kernel_arguments.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/scan_places.hpp>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace parallax::cuda {

/// Launches one kernel of a program.
template <device_api Api> using kernel_launcher = status (*)(kernel_arguments&, const launch_context<Api>&);

/// Whether a result's memory is given, on this device.
template <device_api Api> bool is_given_on(const device<Api>& on, given_memory given, std::size_t number) {
  if (given.empty()) return false;
  const allocation<Api>* const memory = allocation_of<Api>(given[number].on_device);
  return memory != nullptr && &memory->home == &on;
}

template <device_api Api> class section_runner {
 public:
  using call_function = function_ref<void(const call_step&, section_runner&)>;
  /// Gives the first byte of the section's value of a number at a position, when it is used first.
  using value_function = function_ref<std::byte*(std::size_t number, int position)>;

  const section_plan section;
  const mesh<Api> all;
  recycled_vector<recycled_vector<buffer>> outputs; ///< by position, by output

  section_runner(backend<Api>& of, const section_plan& run, const kernel_launcher<Api>* launchers, mesh<Api> devices,
                 value_function values)
      : section(run),
        all(std::move(devices)),
        owner(of),
        kernels(launchers),
        value_at(values),
        pointers(section.buffers().size(), std::vector<std::byte*>(index_of(all.size()))) {}

  /// Takes memory for slots, which share one arena on each device, and for outputs that none is given for here.
  void prepare(given_memory given = {}) {
    place_slots();
    outputs.resize(index_of(all.size()));
    for (int p = 0; p < all.size(); ++p) {
      device<Api>& on = *all.devices[index_of(p)];
      auto& own_outputs = outputs[index_of(p)];
      own_outputs.resize(section.outputs().size());
      for (std::size_t i = 0; i < pointers.size(); ++i) {
        const buffer_record& buffer = section.buffers()[i];
        std::byte*& pointer = pointers[i][index_of(p)];
        const auto number = index_of(buffer.number);
        switch (buffer.kind) {
        case buffer_kind::slot: break;
        case buffer_kind::output:
          own_outputs[number] =
              is_given_on(on, given, number) ? given[number].on_device : allocate<Api>(on, section.bytes_of(buffer));
          pointer = address_of<Api>(own_outputs[number]);
          break;
        case buffer_kind::value: break;
        }
      }
    }
  }

  /// Instead of `prepare`, for each buffer that is used: where it is.
  void set_address(buffer_id id, int position, std::byte* address) {
    pointers[index_of(id)][index_of(position)] = address;
  }

  void run(call_function call) {
    run_steps(section.steps(), call);
    run_exchanges();
    await(started.size());
  }

  // What has been run

  int step_count() const { return steps; }
  /// Whether each device was on its own, without loops.
  bool is_capturable() const { return capturable; }
  bool is_used(buffer_id id) const { return pointers[index_of(id)][0] != nullptr; }

  /// A buffer's first byte at a position. What is enqueued from now on may read and write it.
  std::byte* data(buffer_id id, int position) {
    if (!waiting.empty() || !started.empty()) need(id);
    std::byte*& pointer = pointers[index_of(id)][index_of(position)];
    const buffer_record& buffer = section.buffer_at(id);
    if (pointer == nullptr && buffer.kind == buffer_kind::value) pointer = value_at(index_of(buffer.number), position);
    return pointer;
  }

 private:
  backend<Api>& owner;
  const kernel_launcher<Api>* kernels;
  value_function value_at;
  epilogue_steps<Api> epilogues;
  int steps = 0;
  bool capturable = true;
  recycled_vector<buffer> arenas;
  std::vector<std::vector<std::byte*>> pointers; ///< by buffer, by position

  // Steps that exchange values wait for one another, and for whatever wants one of their results first. Their buffers
  // are not used for anything else before that.

  std::vector<exchange_runner<Api>> waiting; ///< steps that have been read and may run together
  std::vector<buffer_id> waiting_results;    ///< the buffers of their results
  std::size_t waiting_bytes = 0;             ///< of their operands
  struct range {
    const std::byte* begin;
    std::size_t bytes;
    bool meets(const range& other) const { return begin < other.begin + other.bytes && other.begin < begin + bytes; }
  };
  std::vector<range> read_ranges, written_ranges; ///< of these steps, at the first position; all are planned alike

  /// Steps on the side streams.
  struct aside {
    std::vector<exchange_runner<Api>> steps;
    std::vector<buffer_id> results;
    std::vector<device_event<Api>> done; ///< by position
  };
  std::deque<aside> started; ///< that what is enqueued next does not wait for

  struct step_runner {
    section_runner& self;
    call_function call;

    void operator()(const kernel_step& step) const { self.run_kernel(step); }
    void operator()(const product_step& step) const { self.run_product(step); }
    void operator()(const epilogue_step& step) const {
      if (!self.run_epilogue(step)) self.run_steps(self.section.plan[step.parts], call);
    }
    void operator()(const exchange_step& step) const {
      if (self.all.size() == 1) self.run_alone(step);
      else self.add_exchange(step);
    }
    void operator()(const axis_slice_step& step) const { self.run_alone(step); }
    void operator()(const call_step& step) const {
      self.capturable = false;
      call(step, self);
    }
    void operator()(const scan_step& step) const {
      self.capturable = false;
      self.run_scan(step, call);
    }
  };
  void run_steps(plain_span<const step_record> list, call_function call) {
    for (const step_record& step : list) {
      ++steps;
      const bool is_exchange = step.kind == step_kind::exchange;
      if (may_start_aside() && !is_exchange && !wants_waiting(step)) start_aside();
      visit_step(section.plan, step, step_runner{*this, call});
    }
  }
  void place_slots() {
    scratch_array<std::size_t, 32> slot_offsets(index_of(section.section.slot_count) + 1);
    section.plan_slots(slot_offsets);
    for (int p = 0; p < all.size(); ++p) {
      arenas.push_back(allocate<Api>(*all.devices[index_of(p)], slot_offsets[slot_offsets.size() - 1]));
      for (std::size_t i = 0; i < pointers.size(); ++i)
        if (const buffer_record& buffer = section.buffers()[i]; buffer.kind == buffer_kind::slot)
          pointers[i][index_of(p)] = address_of<Api>(arenas.back()) + slot_offsets[index_of(buffer.number)];
    }
  }
  static bool contains(const std::vector<buffer_id>& list, buffer_id id) { return plain::contains(list, id); }

  void add_exchange(const exchange_step& step) {
    capturable = false;
    for (int p = 0; p < all.size(); ++p) data(step.source, p);
    const range reads{data(step.source, 0), section.bytes_of(step.source)};
    const range writes{data(step.result, 0), section.bytes_of(step.result)};
    auto meets = [](const std::vector<range>& ranges, const range& one) {
      return plain::any_of(ranges, [&](const range& other) { return one.meets(other); });
    };
    if (meets(written_ranges, reads) || meets(written_ranges, writes) || meets(read_ranges, writes)) run_exchanges();
    waiting.push_back(runner_of(step));
    waiting_results.push_back(step.result);
    waiting_bytes += reads.bytes;
    read_ranges.push_back(reads);
    written_ranges.push_back(writes);
  }
  exchange_runner<Api> runner_of(const exchange_step& step) {
    return {owner, all, section, step, addresses(step.source), addresses(step.result)};
  }
  const std::vector<std::byte*>& addresses(buffer_id id) const { return pointers[index_of(id)]; }
  std::vector<exchange_runner<Api>> take_waiting() {
    waiting_results.clear();
    waiting_bytes = 0;
    read_ranges.clear();
    written_ranges.clear();
    return std::exchange(waiting, {});
  }

  void run_exchanges() {
    if (waiting.empty()) return;
    await(started.size()); // collectives run one after another on each device, in the same order on all
    cuda::run_exchanges<Api>(owner, waiting);
    take_waiting();
  }

  /// Whether the waiting steps are worth streams of their own.
  bool may_start_aside() const { return !waiting.empty() && waiting_bytes >= owner.options.overlap_bytes; }

  /// Runs the waiting steps on the side streams, behind all that has been enqueued.
  void start_aside() {
    aside& group = started.emplace_back();
    group.results = waiting_results;
    group.steps = take_waiting();
    const side_streams<Api> here(all.devices);
    cuda::run_exchanges<Api>(owner, group.steps);
    for (device<Api>* each : all.devices) {
      each->activate();
      group.done.emplace_back(each->physical);
      check(Api::record_event(group.done.back().event.get(), each->stream()), each->number);
    }
  }
  /// What is enqueued from now on waits for the first `count` groups on the side streams: for the last of them, as they
  /// run one after another.
  void await(std::size_t count) {
    if (count == 0) return;
    for (std::size_t p = 0; p < all.devices.size(); ++p) {
      const device<Api>& each = *all.devices[p];
      each.activate();
      check(Api::wait_event(each.stream(), started[count - 1].done[p].event.get()), each.number);
    }
    for (; count > 0; --count) started.pop_front();
  }

  /// The buffer is going to be used.
  void need(buffer_id id) {
    if (contains(waiting_results, id)) run_exchanges();
    for (std::size_t count = started.size(); count > 0; --count)
      if (contains(started[count - 1].results, id)) return await(count);
  }

  /// Whether a step wants a result of those that wait.
  bool wants_waiting(const step_record& step) const {
    bool wants = step.kind == step_kind::call;
    visit_buffers(section.plan, step, [&](buffer_id id) { wants = wants || contains(waiting_results, id); });
    return wants;
  }

  /// An exchange that is a copy on each device, which nobody waits for.
  void run_alone(const exchange_step& step) {
    for (int p = 0; p < all.size(); ++p) data(step.source, p), data(step.result, p);
    runner_of(step).run_without_nccl();
  }
  void run_alone(const axis_slice_step& step) {
    const std::size_t count = all.groups(step.axes.bits)[0].size();
    const auto rows = index_of(section.extents[step.outer]);
    const std::size_t row = index_of(section.extents[step.inner]) * size_of(section.type_of(step.source));
    for (int p = 0; p < all.size(); ++p) {
      const auto index = index_of(all.axis_index(p, step.axes.bits));
      all.devices[index_of(p)]->copy_rows(data(step.result, p), row, data(step.source, p) + index * row, count * row,
                                          row, rows);
    }
  }

  /// Enqueues all rounds, one after another.
  void run_scan(const scan_step& step, call_function call) {
    run_exchanges();
    await(started.size());          // the body has collectives of its own
    std::deque<scan_places> places; // by position
    for (int p = 0; p < all.size(); ++p) places.emplace_back(section, step, [&](buffer_id id) { return data(id, p); });
    const std::int64_t rounds = places.front().rounds;
    if (rounds == 0) return copy_carries(step, places);
    section_runner body(owner, {section.plan, step.body, section.extents}, kernels, all, no_value);
    body.place_slots();
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (int p = 0; p < all.size(); ++p) {
        scan_places& here = places[index_of(p)];
        here.go_to(round);
        body.place_round(here, p);
      }
      body.run(call);
    }
    steps += body.step_count();
  }
  /// Of a loop's body, all of whose values are placed.
  static constexpr auto no_value = [](std::size_t, int) { return static_cast<std::byte*>(nullptr); };
  void copy_carries(const scan_step& step, const std::deque<scan_places>& places) {
    const plain_span<const scan_result> results = section.plan[step.results];
    for (std::size_t p = 0; p < places.size(); ++p)
      places[p].copy_carries([&](std::byte* to, const std::byte* from, std::size_t number) {
        device<Api>& on = *all.devices[p];
        copy_across<Api>(on, to, on, from, section.bytes_of(results[number].buffer));
      });
  }
  /// Arguments and outputs of a loop's body for its next round.
  void place_round(const scan_places& places, int position) {
    int next = 0;
    for (const buffer_record& each : section.buffers()) {
      const buffer_id buffer{next++};
      const auto number = index_of(each.number);
      if (each.kind == buffer_kind::value) set_address(buffer, position, places.arguments()[number]);
      if (each.kind == buffer_kind::output) set_address(buffer, position, places.outputs()[number]);
    }
  }

  void run_kernel(const kernel_step& step) {
    for (int p = 0; p < all.size(); ++p) {
      kernel_arguments a;
      operand operands[max_accesses];
      constant_bits constants[max_accesses];
      section.fill(
          step, a, operands, constants, [&](buffer_id id) { return data(id, p); },
          [&](mesh_axis axis) { return all.axis_index(p, 1U << static_cast<int>(axis)); });
      const device<Api>& on = *all.devices[index_of(p)];
      on.activate();
      check(kernels[index_of(step.kernel)](a, on.context()), on.number);
    }
  }

  bool run_epilogue(const epilogue_step& epilogue) {
    const step_record first = section.plan[epilogue.parts][0]; // the product
    return epilogues.run(all, section, epilogue, section.plan.at<product_step>(first.index),
                         [&](buffer_id id, int p) { return data(id, p); });
  }

  void run_product(const product_step& step) {
    const resolved_product product(section, step);
    for (int p = 0; p < all.size(); ++p)
      run_batched_product<Api>(*all.devices[index_of(p)], product, data(step.result, p),
                               byte_at(data(step.left, p), product.left_offset),
                               byte_at(data(step.right, p), product.right_offset));
  }
};

} // namespace parallax::cuda
