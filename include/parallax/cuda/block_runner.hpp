// Enqueues the steps of one block: on one device for the outermost, on each device of its mesh for a section.
#pragma once

#include <parallax/cuda/exchange_steps.hpp>
#include <parallax/cuda/product_steps.hpp>
#include <parallax/host/function_ref.hpp>
#include <parallax/host/kernel_arguments.hpp>

#include <algorithm>
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
      local = local && kind != parallax::detail::step_kind::call && !parallax::detail::is_exchange(kind);
      if (!parallax::detail::is_exchange(kind)) run_exchanges();
      switch (kind) {
      case parallax::detail::step_kind::kernel: run_kernel(r); break;
      case parallax::detail::step_kind::product: run_product(r); break;
      case parallax::detail::step_kind::call: call(r, *this); break;
      default: add_exchange(parallax::detail::exchange_step::read(kind, r, extents)); continue;
      }
    }
    run_exchanges();
  }

  // What has been run

  int step_count() const { return steps; }
  /// Whether each device was on its own.
  bool is_local() const { return local; }
  bool is_used(std::int64_t number) const { return pointers[static_cast<std::size_t>(number)][0] != nullptr; }

  /// A buffer's first byte at a position.
  std::byte* data(std::int64_t number, int position) {
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
  int steps = 0;
  bool local = true;
  std::vector<buffer> arenas;
  std::vector<std::vector<std::byte*>> pointers; ///< by buffer, by position

  /// Steps that have been read and may run together.
  std::vector<exchange_runner<Api>> waiting;
  struct range {
    const std::byte* begin;
    std::size_t bytes;
    bool meets(const range& other) const { return begin < other.begin + other.bytes && other.begin < begin + bytes; }
  };
  std::vector<range> read_ranges, written_ranges; ///< of these steps, at the first position; all are planned alike

  void add_exchange(const parallax::detail::exchange_step& step) {
    for (int p = 0; p < all.size(); ++p) data(step.source, p);
    const range reads{data(step.source, 0), table.bytes_of(step.source)};
    const range writes{data(step.result, 0), table.bytes_of(step.result)};
    auto meets = [](const std::vector<range>& ranges, const range& one) {
      return std::ranges::any_of(ranges, [&](const range& other) { return one.meets(other); });
    };
    if (meets(written_ranges, reads) || meets(written_ranges, writes) || meets(read_ranges, writes)) run_exchanges();
    waiting.emplace_back(owner, all, step, table.type_of(step.source), table.bytes_of(step.source),
                         pointers[static_cast<std::size_t>(step.source)],
                         pointers[static_cast<std::size_t>(step.result)]);
    read_ranges.push_back(reads);
    written_ranges.push_back(writes);
  }
  void run_exchanges() {
    if (waiting.empty()) return;
    cuda::run_exchanges<Api>(owner, waiting);
    waiting.clear();
    read_ranges.clear();
    written_ranges.clear();
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
