// Enqueues the steps of one block: on one device for the outermost, on each device of its mesh for a section.
#pragma once

#include <parallax/cuda/epilogue_steps.hpp>
#include <parallax/cuda/exchange_steps.hpp>
#include <parallax/host/function_ref.hpp>
#include <parallax/host/kernel_arguments.hpp>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace parallax::cuda {

/// Launches one kernel of a program.
template <device_api Api> using kernel_launcher = status (*)(host::kernel_arguments&, const launch_context<Api>&);

template <device_api Api> class block_runner {
 public:
  using call_function = host::function_ref<void(parallax::detail::table_reader&, block_runner&)>;
  /// Gives the first byte of the block's value of a number at a position, when it is used first.
  using value_function = host::function_ref<std::byte*(std::size_t number, int position)>;

  const parallax::detail::block_table table;
  const mesh<Api> all;
  std::vector<std::vector<buffer>> outputs; ///< by position, by output

  block_runner(backend<Api>& of, const std::int64_t* whole, int number,
               const parallax::detail::resolved_extents& resolved, const kernel_launcher<Api>* launchers,
               mesh<Api> devices, value_function values)
      : table(whole, number, resolved),
        all(std::move(devices)),
        owner(of),
        extents(resolved),
        kernels(launchers),
        value_at(values),
        pointers(static_cast<std::size_t>(table.buffer_count),
                 std::vector<std::byte*>(static_cast<std::size_t>(all.size()))) {}

  /// Takes memory for outputs and slots, which share one arena on each device.
  void prepare() {
    parallax::detail::scratch_array<std::size_t, 32> slot_offsets(static_cast<std::size_t>(table.slot_count) + 1);
    table.plan_slots(slot_offsets);
    const std::size_t arena_bytes = slot_offsets[slot_offsets.size() - 1];
    outputs.resize(static_cast<std::size_t>(all.size()));
    for (int p = 0; p < all.size(); ++p) {
      device<Api>& on = *all.devices[static_cast<std::size_t>(p)];
      arenas.push_back(allocate<Api>(on, arena_bytes));
      auto& own_outputs = outputs[static_cast<std::size_t>(p)];
      own_outputs.resize(static_cast<std::size_t>(table.output_count));
      for (std::int64_t i = 0; i < table.buffer_count; ++i) {
        std::byte*& pointer = pointers[static_cast<std::size_t>(i)][static_cast<std::size_t>(p)];
        const auto number = static_cast<std::size_t>(table.number_of(i));
        switch (table.place_of(i)) {
        case parallax::detail::buffer_place::slot:
          pointer = address_of<Api>(arenas.back()) + slot_offsets[number];
          break;
        case parallax::detail::buffer_place::output:
          own_outputs[number] = allocate<Api>(on, table.bytes_of(i));
          pointer = address_of<Api>(own_outputs[number]);
          break;
        case parallax::detail::buffer_place::value: break;
        }
      }
    }
  }

  /// Instead of `prepare`, for each buffer that is used: where it is.
  void place(std::int64_t number, int position, std::byte* address) {
    pointers[static_cast<std::size_t>(number)][static_cast<std::size_t>(position)] = address;
  }

  void run(call_function call) {
    parallax::detail::table_reader r = table.read_steps();
    for (std::int64_t count = r.next(); count > 0; --count) {
      const auto kind = static_cast<parallax::detail::step_kind>(r.next());
      ++steps;
      local = local && kind != parallax::detail::step_kind::call;
      if (may_start_aside() && !is_exchange(kind) && !wants_waiting(kind, r)) start_aside();
      switch (kind) {
      case parallax::detail::step_kind::kernel: run_kernel(r); break;
      case parallax::detail::step_kind::product: run_product(r); break;
      case parallax::detail::step_kind::epilogue: {
        const auto step = parallax::detail::epilogue_step::read(r, extents);
        if (run_epilogue(step, r)) r.skip(step.words);
        else count += step.parts;
        break;
      }
      case parallax::detail::step_kind::call: call(r, *this); break;
      case parallax::detail::step_kind::axis_slice:
        run_alone(parallax::detail::exchange_step::read(kind, r, extents));
        break;
      default:
        if (const auto step = parallax::detail::exchange_step::read(kind, r, extents); all.size() == 1) run_alone(step);
        else add_exchange(step);
      }
    }
    run_exchanges();
    await(started.size());
  }

  // What has been run

  int step_count() const { return steps; }
  /// Whether each device was on its own.
  bool is_local() const { return local; }
  bool is_used(std::int64_t number) const { return pointers[static_cast<std::size_t>(number)][0] != nullptr; }

  /// A buffer's first byte at a position. What is enqueued from now on may read and write it.
  std::byte* data(std::int64_t number, int position) {
    if (!waiting.empty() || !started.empty()) need(number);
    std::byte*& pointer = pointers[static_cast<std::size_t>(number)][static_cast<std::size_t>(position)];
    if (pointer == nullptr && table.place_of(number) == parallax::detail::buffer_place::value)
      pointer = value_at(static_cast<std::size_t>(table.number_of(number)), position);
    return pointer;
  }

 private:
  backend<Api>& owner;
  const parallax::detail::resolved_extents& extents;
  const kernel_launcher<Api>* kernels;
  value_function value_at;
  epilogue_steps<Api> epilogues;
  int steps = 0;
  bool local = true;
  std::vector<buffer> arenas;
  std::vector<std::vector<std::byte*>> pointers; ///< by buffer, by position

  // Steps that exchange values wait for one another, and for whatever wants one of their results first. Their buffers
  // are not used for anything else before that.

  std::vector<exchange_runner<Api>> waiting; ///< steps that have been read and may run together
  std::vector<std::int64_t> waiting_results; ///< the buffers of their results
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
    std::vector<std::int64_t> results;
    std::vector<device_event<Api>> done; ///< by position
  };
  std::deque<aside> started; ///< that what is enqueued next does not wait for

  static bool is_exchange(parallax::detail::step_kind kind) { return parallax::detail::is_exchange(kind); }
  static bool contains(const std::vector<std::int64_t>& list, std::int64_t number) {
    return std::ranges::find(list, number) != list.end();
  }

  void add_exchange(const parallax::detail::exchange_step& step) {
    local = false;
    for (int p = 0; p < all.size(); ++p) data(step.source, p);
    const range reads{data(step.source, 0), table.bytes_of(step.source)};
    const range writes{data(step.result, 0), table.bytes_of(step.result)};
    auto meets = [](const std::vector<range>& ranges, const range& one) {
      return std::ranges::any_of(ranges, [&](const range& other) { return one.meets(other); });
    };
    if (meets(written_ranges, reads) || meets(written_ranges, writes) || meets(read_ranges, writes)) run_exchanges();
    waiting.push_back(runner_of(step));
    waiting_results.push_back(step.result);
    waiting_bytes += reads.bytes;
    read_ranges.push_back(reads);
    written_ranges.push_back(writes);
  }
  exchange_runner<Api> runner_of(const parallax::detail::exchange_step& step) {
    return {owner,
            all,
            step,
            table.type_of(step.source),
            table.bytes_of(step.source),
            pointers[static_cast<std::size_t>(step.source)],
            pointers[static_cast<std::size_t>(step.result)]};
  }
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
  void need(std::int64_t number) {
    if (contains(waiting_results, number)) run_exchanges();
    for (std::size_t count = started.size(); count > 0; --count)
      if (contains(started[count - 1].results, number)) return await(count);
  }

  /// Whether the step that the reader stands at wants a result of those that wait.
  bool wants_waiting(parallax::detail::step_kind kind, parallax::detail::table_reader r) const {
    bool wants = kind == parallax::detail::step_kind::call;
    if (!wants)
      parallax::detail::visit_buffers(kind, r, extents,
                                      [&](std::int64_t number) { wants = wants || contains(waiting_results, number); });
    return wants;
  }

  /// An exchange that is a copy on each device, which nobody waits for.
  void run_alone(const parallax::detail::exchange_step& step) {
    for (int p = 0; p < all.size(); ++p) data(step.source, p), data(step.result, p);
    runner_of(step).run_without_nccl();
  }

  void run_kernel(parallax::detail::table_reader& r) {
    const parallax::detail::table_reader start = r;
    for (int p = 0; p < all.size(); ++p) {
      r = start;
      host::kernel_arguments a;
      host::operand operands[host::max_accesses];
      host::constant_bits constants[host::max_accesses];
      const std::int64_t kernel = table.read_kernel(
          r, a, operands, constants, [&](std::int64_t number) { return data(number, p); },
          [&](int mesh_axis) { return all.axis_index(p, 1U << mesh_axis); });
      const device<Api>& on = *all.devices[static_cast<std::size_t>(p)];
      on.activate();
      check(kernels[kernel](a, on.context()), on.number);
    }
  }

  bool run_epilogue(const parallax::detail::epilogue_step& epilogue, parallax::detail::table_reader r) {
    r.next(); // the first part is the product
    const auto step = parallax::detail::product_step::read(r, extents);
    return epilogues.run(all, epilogue, step, table.type_of(step.result),
                         [&](std::int64_t number, int p) { return data(number, p); });
  }

  void run_product(parallax::detail::table_reader& r) {
    const auto step = parallax::detail::product_step::read(r, extents);
    for (int p = 0; p < all.size(); ++p) {
      const element_type type = table.type_of(step.result);
      const auto element_bytes = static_cast<std::int64_t>(size_of(type));
      run_batched_product<Api>(*all.devices[static_cast<std::size_t>(p)], step, type, data(step.result, p),
                               data(step.left, p) + step.left_offset * element_bytes,
                               data(step.right, p) + step.right_offset * element_bytes);
    }
  }
};

} // namespace parallax::cuda
