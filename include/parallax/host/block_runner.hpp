// Runs the steps of one block: the outermost one in the calling thread, a section's on each of its devices.
#pragma once

#include <parallax/host/collectives.hpp>
#include <parallax/host/function_ref.hpp>
#include <parallax/host/kernel_arguments.hpp>
#include <parallax/host/product.hpp>
#include <parallax/runtime/resolve.hpp>
#include <parallax/runtime/value.hpp>

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

  std::vector<parallax::detail::runtime_value>* values = nullptr; ///< of the outermost block
  std::vector<buffer> outputs;

  block_runner(const std::int64_t* whole, int number, const parallax::detail::resolved_extents& resolved,
               const kernel_function* functions, device_place where)
      : extents(resolved),
        kernels(functions),
        place(where),
        reader(block_start(whole, number)),
        pointers(buffers_of(reader)) {
    reader.skip(reader.next()); // mesh
    reader.skip(2);             // numbers of arguments and values
    slot_count = reader.next_int();
    buffer_count = reader.next();
    buffer_records = reader.skip(4 * buffer_count);
    output_count = reader.next();
    output_records = reader.skip(0);
    for (std::int64_t k = 0; k < output_count; ++k) {
      reader.skip(3);
      reader.skip(reader.next());
      reader.skip(2 * reader.next());
    }
  }
  static const std::int64_t* block_start(const std::int64_t* table, int number) {
    return table + table[table[parallax::detail::blocks_at] + 1 + number];
  }

  /// Takes memory for outputs and slots. Slots share one arena.
  void prepare(const std::vector<const std::byte*>* arguments) {
    outputs.resize(static_cast<std::size_t>(output_count));
    parallax::detail::scratch_array<std::size_t, 32> slot_offsets(static_cast<std::size_t>(slot_count) + 1);
    std::fill(slot_offsets.begin(), slot_offsets.end(), std::size_t{0});
    for (std::int64_t i = 0; i < buffer_count; ++i) {
      if (place_of(i) == parallax::detail::buffer_place::slot) {
        std::size_t& size = slot_offsets[static_cast<std::size_t>(number_of(i)) + 1];
        size = std::max(size, (bytes_of(i) + 63) / 64 * 64);
      }
    }
    for (std::size_t i = 1; i < slot_offsets.size(); ++i) slot_offsets[i] += slot_offsets[i - 1];
    if (std::size_t size = slot_offsets[slot_offsets.size() - 1]; size > 0) arena = buffer::allocate(size);
    for (std::int64_t i = 0; i < buffer_count; ++i) {
      std::byte*& pointer = pointers[static_cast<std::size_t>(i)];
      std::size_t number = static_cast<std::size_t>(number_of(i));
      switch (place_of(i)) {
      case parallax::detail::buffer_place::slot: pointer = arena.data() + slot_offsets[number]; break;
      case parallax::detail::buffer_place::output:
        outputs[number] = buffer::allocate(bytes_of(i));
        pointer = outputs[number].data();
        break;
      case parallax::detail::buffer_place::value:
        pointer = nullptr;
        if (arguments && number < arguments->size()) pointer = const_cast<std::byte*>((*arguments)[number]);
      }
    }
  }

  void run(call_function call) {
    parallax::detail::table_reader r = reader;
    for (std::int64_t count = r.next(); count > 0; --count) {
      auto kind = static_cast<parallax::detail::step_kind>(r.next());
      switch (kind) {
      case parallax::detail::step_kind::kernel: run_kernel(r); break;
      case parallax::detail::step_kind::product: run_product_step(r); break;
      case parallax::detail::step_kind::call: call(r, *this); break;
      default: run_collective(kind, r);
      }
    }
  }

  std::byte* data(std::int64_t number) {
    if (number < 0) return nullptr;
    if (values && place_of(number) == parallax::detail::buffer_place::value)
      return (*values)[static_cast<std::size_t>(number_of(number))].host_data();
    return pointers[static_cast<std::size_t>(number)];
  }
  parallax::detail::buffer_place place_of(std::int64_t number) const {
    return static_cast<parallax::detail::buffer_place>(buffer_records[4 * number]);
  }
  std::int64_t number_of(std::int64_t number) const { return buffer_records[4 * number + 1]; }
  element_type type_of(std::int64_t number) const { return static_cast<element_type>(buffer_records[4 * number + 2]); }
  std::size_t bytes_of(std::int64_t number) const {
    return static_cast<std::size_t>(extents[buffer_records[4 * number + 3]]) * size_of(type_of(number));
  }
  /// Reads the outputs' records from the first on.
  parallax::detail::table_reader read_outputs() const { return parallax::detail::table_reader(output_records); }

 private:
  const parallax::detail::resolved_extents& extents;
  const kernel_function* kernels;
  device_place place;
  parallax::detail::table_reader reader;
  int slot_count = 0;
  std::int64_t buffer_count = 0, output_count = 0;
  const std::int64_t* buffer_records = nullptr;
  const std::int64_t* output_records = nullptr;
  buffer arena;
  parallax::detail::scratch_array<std::byte*, 32> pointers; ///< by buffer

  static std::size_t buffers_of(parallax::detail::table_reader r) {
    r.skip(r.next());
    r.skip(3);
    return static_cast<std::size_t>(r.next());
  }

  void run_kernel(parallax::detail::table_reader& r) {
    kernel_arguments a;
    std::int64_t kernel = r.next();
    a.reduced = static_cast<unsigned>(r.next());
    a.rank = r.next_int();
    for (int d = 0; d < a.rank; ++d) a.extents[d] = extents[r.next()];
    a.operand_count = r.next_int();
    operand operands[max_accesses];
    for (int i = 0; i < a.operand_count; ++i) {
      operand& o = operands[i];
      std::int64_t number = r.next(), offset = extents[r.next()];
      bool is_index = number < 0;
      o.start = is_index ? offset : 0;
      o.element_bytes = is_index ? 1 : static_cast<std::int64_t>(size_of(type_of(number)));
      o.data = is_index ? nullptr : data(number) + offset * o.element_bytes;
      for (int d = 0; d < a.rank; ++d) o.strides[d] = extents[r.next()];
    }
    a.operands = operands;
    constant_bits constants[max_accesses];
    std::int64_t constant_count = r.next();
    for (std::int64_t i = 0; i < constant_count; ++i) constants[i] = read_constant(r);
    a.constants = constants;
    kernels[kernel](a);
  }

  constant_bits read_constant(parallax::detail::table_reader& r) const {
    auto kind = static_cast<parallax::detail::constant_kind>(r.next());
    auto type = static_cast<element_type>(r.next());
    std::int64_t word = r.next();
    std::int64_t integer = word;
    if (kind == parallax::detail::constant_kind::extent) integer = extents[word];
    if (kind == parallax::detail::constant_kind::axis_index)
      integer = place.together->axis_index(place.position, 1U << word);
    bool literal = kind == parallax::detail::constant_kind::literal;
    switch (type) {
    case element_type::float32:
      return constant_bits::of(literal ? static_cast<float>(std::bit_cast<double>(word)) : static_cast<float>(integer));
    case element_type::float64:
      return constant_bits::of(literal ? std::bit_cast<double>(word) : static_cast<double>(integer));
    case element_type::boolean: return constant_bits::of(integer != 0);
    case element_type::uint8: return constant_bits::of(static_cast<std::uint8_t>(integer));
    case element_type::int32: return constant_bits::of(static_cast<std::int32_t>(integer));
    case element_type::uint32: return constant_bits::of(static_cast<std::uint32_t>(integer));
    case element_type::int64: return constant_bits::of(integer);
    case element_type::uint64: return constant_bits::of(static_cast<std::uint64_t>(integer));
    }
    return {0};
  }

  void run_product_step(parallax::detail::table_reader& r) {
    product_arguments p;
    std::int64_t result = r.next(), left = r.next(), left_offset = extents[r.next()], right = r.next(),
                 right_offset = extents[r.next()];
    p.type = type_of(result);
    std::int64_t element_bytes = static_cast<std::int64_t>(size_of(p.type));
    p.result = data(result);
    p.left = data(left) + left_offset * element_bytes;
    p.right = data(right) + right_offset * element_bytes;
    p.batch_rank = r.next_int();
    for (int d = 0; d < p.batch_rank; ++d) p.batch[d] = extents[r.next()];
    for (int d = 0; d < p.batch_rank; ++d) p.left_batch[d] = extents[r.next()];
    for (int d = 0; d < p.batch_rank; ++d) p.right_batch[d] = extents[r.next()];
    for (int d = 0; d < p.batch_rank; ++d) r.next(); // the result is contiguous
    for (std::int64_t* field :
         {&p.rows, &p.columns, &p.depth, &p.left_row, &p.left_depth, &p.right_depth, &p.right_column})
      *field = extents[r.next()];
    run_product(p);
  }

  void run_collective(parallax::detail::step_kind kind, parallax::detail::table_reader& r) {
    std::int64_t result = r.next(), source = r.next();
    unsigned axes = static_cast<unsigned>(r.next());
    std::int64_t operation = r.next();
    std::size_t outer = static_cast<std::size_t>(extents[r.next()]),
                inner = static_cast<std::size_t>(extents[r.next()]);
    std::int64_t parameter_count = r.next();
    const std::int64_t* parameters = r.skip(parameter_count);
    element_type type = type_of(source);
    std::byte* from = data(source);
    std::byte* to = data(result);
    team& all = *place.together;
    switch (kind) {
    case parallax::detail::step_kind::all_reduce: {
      reduction how = operation == primitives::number_of<primitives::psum>   ? reduction::sum
                      : operation == primitives::number_of<primitives::pmax> ? reduction::max
                                                                             : reduction::min;
      all_reduce(all, place.position, axes, how, type, from, to, bytes_of(source) / size_of(type));
      break;
    }
    case parallax::detail::step_kind::all_gather:
      all_gather(all, place.position, axes, from, to, outer, inner * size_of(type));
      break;
    case parallax::detail::step_kind::reduce_scatter:
      reduce_scatter(all, place.position, axes, reduction::sum, type, from, to, outer, inner);
      break;
    case parallax::detail::step_kind::axis_slice:
      parallax::detail::copy_slice_out(from, to, static_cast<std::int64_t>(outer), all.group_size(axes),
                                       inner * size_of(type), all.axis_index(place.position, axes));
      break;
    default:
      permute(all, place.position, axes, source_of(all, axes, parameters, parameter_count), from, to, bytes_of(source));
    }
  }

  /// The instance this one receives from; -1 for none.
  int source_of(team& all, unsigned axes, const std::int64_t* parameters, std::int64_t count) const {
    int here = all.axis_index(place.position, axes), size = all.group_size(axes);
    switch (static_cast<primitives::permutation_kind>(parameters[0])) {
    case primitives::permutation_kind::rotation: return static_cast<int>(((here - parameters[1]) % size + size) % size);
    case primitives::permutation_kind::shift: {
      std::int64_t from = here - parameters[1];
      return from >= 0 && from < size ? static_cast<int>(from) : -1;
    }
    case primitives::permutation_kind::pairs: break;
    }
    int found = -1;
    for (std::int64_t i = 1; i + 1 < count; i += 2) {
      if (parameters[i] >= size || parameters[i + 1] >= size)
        throw shape_error("ppermute: pair (" + std::to_string(parameters[i]) + ", " +
                          std::to_string(parameters[i + 1]) + ") is outside the axis of size " + std::to_string(size));
      if (parameters[i + 1] == here) found = static_cast<int>(parameters[i]);
    }
    return found;
  }
};

} // namespace parallax::host
