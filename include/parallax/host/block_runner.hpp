// Runs the steps of one block: the outermost one in the calling thread, a section's on each of its devices.
#pragma once

#include <parallax/host/collectives.hpp>
#include <parallax/host/function_ref.hpp>
#include <parallax/host/kernel_arguments.hpp>
#include <parallax/host/product.hpp>
#include <parallax/runtime/block_table.hpp>
#include <parallax/runtime/value.hpp>

#include <algorithm>
#include <vector>

namespace parallax::host {

/// A device's place in a section's run.
struct device_place {
  team* together = nullptr;
  int position = 0;
};

class block_runner {
 public:
  using call_function = function_ref<void(parallax::detail::table_reader&, block_runner&)>;

  const parallax::detail::block_table table;
  std::vector<parallax::detail::runtime_value>* values = nullptr; ///< of the outermost block
  std::vector<buffer> outputs;

  block_runner(const std::int64_t* whole, int number, const parallax::detail::resolved_extents& resolved,
               const kernel_function* functions, device_place where)
      : table(whole, number, resolved),
        extents(resolved),
        kernels(functions),
        place(where),
        pointers(static_cast<std::size_t>(table.buffer_count)) {}

  /// Takes memory for outputs and slots. Slots share one arena.
  void prepare(const std::vector<const std::byte*>* arguments) {
    outputs.resize(static_cast<std::size_t>(table.output_count));
    parallax::detail::scratch_array<std::size_t, 32> slot_offsets(static_cast<std::size_t>(table.slot_count) + 1);
    table.plan_slots(slot_offsets);
    if (std::size_t size = slot_offsets[slot_offsets.size() - 1]; size > 0) arena = buffer::allocate(size);
    for (std::int64_t i = 0; i < table.buffer_count; ++i) {
      std::byte*& pointer = pointers[static_cast<std::size_t>(i)];
      std::size_t number = static_cast<std::size_t>(table.number_of(i));
      switch (table.place_of(i)) {
      case parallax::detail::buffer_place::slot: pointer = arena.data() + slot_offsets[number]; break;
      case parallax::detail::buffer_place::output:
        outputs[number] = buffer::allocate(table.bytes_of(i));
        pointer = outputs[number].data();
        break;
      case parallax::detail::buffer_place::value:
        pointer = nullptr;
        if (arguments && number < arguments->size()) pointer = const_cast<std::byte*>((*arguments)[number]);
      }
    }
  }

  void run(call_function call) {
    parallax::detail::table_reader r = table.read_steps();
    for (std::int64_t count = r.next(); count > 0; --count) {
      auto kind = static_cast<parallax::detail::step_kind>(r.next());
      switch (kind) {
      case parallax::detail::step_kind::kernel: run_kernel(r); break;
      case parallax::detail::step_kind::product: run_product_step(r); break;
      case parallax::detail::step_kind::epilogue: // here its parts are steps like others
        count += parallax::detail::epilogue_step::read(r, extents).parts;
        break;
      case parallax::detail::step_kind::call: call(r, *this); break;
      default: run_exchange(parallax::detail::exchange_step::read(kind, r, extents));
      }
    }
  }

  std::byte* data(std::int64_t number) {
    if (number < 0) return nullptr;
    if (values && table.place_of(number) == parallax::detail::buffer_place::value)
      return (*values)[static_cast<std::size_t>(table.number_of(number))].host_data();
    return pointers[static_cast<std::size_t>(number)];
  }

 private:
  const parallax::detail::resolved_extents& extents;
  const kernel_function* kernels;
  device_place place;
  buffer arena;
  parallax::detail::scratch_array<std::byte*, 32> pointers; ///< by buffer

  void run_kernel(parallax::detail::table_reader& r) {
    kernel_arguments a;
    operand operands[max_accesses];
    constant_bits constants[max_accesses];
    std::int64_t kernel = table.read_kernel(
        r, a, operands, constants, [this](std::int64_t number) { return data(number); },
        [this](int mesh_axis) { return place.together->axis_index(place.position, 1U << mesh_axis); });
    kernels[kernel](a);
  }

  void run_product_step(parallax::detail::table_reader& r) {
    auto step = parallax::detail::product_step::read(r, extents);
    product_arguments p;
    p.type = table.type_of(step.result);
    std::int64_t element_bytes = static_cast<std::int64_t>(size_of(p.type));
    p.result = data(step.result);
    p.left = data(step.left) + step.left_offset * element_bytes;
    p.right = data(step.right) + step.right_offset * element_bytes;
    p.batch_rank = step.batch_rank;
    for (int d = 0; d < p.batch_rank; ++d) {
      p.batch[d] = step.batch[d];
      p.left_batch[d] = step.left_batch[d];
      p.right_batch[d] = step.right_batch[d];
    }
    p.rows = step.rows, p.columns = step.columns, p.depth = step.depth;
    p.left_row = step.left_row, p.left_depth = step.left_depth;
    p.right_depth = step.right_depth, p.right_column = step.right_column;
    run_product(p);
  }

  void run_exchange(const parallax::detail::exchange_step& step) {
    element_type type = table.type_of(step.source);
    std::byte* from = data(step.source);
    std::byte* to = data(step.result);
    const auto outer = static_cast<std::size_t>(step.outer), inner = static_cast<std::size_t>(step.inner);
    team& all = *place.together;
    const int index = all.axis_index(place.position, step.axes);
    const group_part who(step.axes, step.group_of(index));
    switch (step.kind) {
    case parallax::detail::step_kind::all_reduce: {
      reduction how = step.reduction == primitives::number_of<primitives::psum>   ? reduction::sum
                      : step.reduction == primitives::number_of<primitives::pmax> ? reduction::max
                                                                                  : reduction::min;
      all_reduce(all, place.position, who, how, type, from, to, table.bytes_of(step.source) / size_of(type));
      break;
    }
    case parallax::detail::step_kind::all_gather:
      all_gather(all, place.position, who, from, to, outer, inner * size_of(type));
      break;
    case parallax::detail::step_kind::reduce_scatter:
      reduce_scatter(all, place.position, who, reduction::sum, type, from, to, outer, inner);
      break;
    case parallax::detail::step_kind::all_to_all:
      all_to_all(all, place.position, who, from, to, inner * size_of(type));
      break;
    case parallax::detail::step_kind::broadcast:
      broadcast(all, place.position, who, static_cast<int>(step.parameters[0]), from, to, table.bytes_of(step.source));
      break;
    case parallax::detail::step_kind::axis_slice:
      parallax::detail::copy_slice_out(from, to, step.outer, all.group_size(step.axes), inner * size_of(type), index);
      break;
    default:
      permute(all, place.position, who, step.source_of(index, all.group_size(step.axes)), from, to,
              table.bytes_of(step.source));
    }
  }
};

} // namespace parallax::host
