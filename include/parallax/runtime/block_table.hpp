// One block of a program's table, read for a call: its buffers, outputs and steps.
#pragma once

#include <parallax/runtime/resolve.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parallax::detail {

class block_table {
 public:
  const resolved_extents& extents;
  int value_count = 0;
  int slot_count = 0;
  std::int64_t buffer_count = 0;
  std::int64_t output_count = 0;

  block_table(const std::int64_t* whole, int number, const resolved_extents& resolved)
      : extents(resolved), steps(start(whole, number)) {
    std::int64_t axes = steps.next();
    mesh_words = steps.skip(axes);
    mesh_rank = static_cast<int>(axes);
    steps.next(); // number of arguments
    value_count = steps.next_int();
    slot_count = steps.next_int();
    buffer_count = steps.next();
    buffer_records = steps.skip(4 * buffer_count);
    output_count = steps.next();
    output_records = steps.skip(0);
    for (std::int64_t k = 0; k < output_count; ++k) {
      steps.skip(3);
      steps.skip(steps.next());
      steps.skip(2 * steps.next());
    }
  }
  static const std::int64_t* start(const std::int64_t* table, int number) {
    return table + table[table[blocks_at] + 1 + number];
  }

  /// How many arguments and results of calls a program's outermost block has.
  static std::size_t value_count_of(const std::int64_t* whole) {
    table_reader header(start(whole, 0));
    header.skip(header.next());
    header.next();
    return static_cast<std::size_t>(header.next());
  }

  /// The sizes of the mesh that the block runs on; none for the outermost.
  std::vector<std::int64_t> mesh() const {
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < mesh_rank; ++i) sizes.push_back(extents[mesh_words[i]]);
    return sizes;
  }

  buffer_place place_of(std::int64_t number) const { return static_cast<buffer_place>(buffer_records[4 * number]); }
  std::int64_t number_of(std::int64_t number) const { return buffer_records[4 * number + 1]; }
  element_type type_of(std::int64_t number) const { return static_cast<element_type>(buffer_records[4 * number + 2]); }
  std::size_t bytes_of(std::int64_t number) const {
    return static_cast<std::size_t>(extents[buffer_records[4 * number + 3]]) * size_of(type_of(number));
  }

  /// Reads the outputs' records from the first on.
  table_reader read_outputs() const { return table_reader(output_records); }
  /// Reads the steps: their number, then each.
  table_reader read_steps() const { return steps; }

  /// Says where the slots begin in the arena that they share, and behind them its size: `slot_count` + 1 numbers.
  template <class Offsets> void plan_slots(Offsets& offsets) const {
    constexpr std::size_t alignment = 256; // of a device's memory; enough for the host's registers too
    std::fill(offsets.begin(), offsets.end(), std::size_t{0});
    for (std::int64_t i = 0; i < buffer_count; ++i) {
      if (place_of(i) == buffer_place::slot) {
        std::size_t& size = offsets[static_cast<std::size_t>(number_of(i)) + 1];
        size = std::max(size, (bytes_of(i) + alignment - 1) / alignment * alignment);
      }
    }
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  }

  /// Fills in a kernel step: `Arguments` is what the backend's kernels take. `data_of` gives a buffer's first byte,
  /// `axis_index_of` the index along a mesh axis. Returns the kernel's number.
  template <class Arguments, class Operand, class Constant, class Data, class AxisIndex>
  std::int64_t read_kernel(table_reader& r, Arguments& a, Operand* operands, Constant* constants, const Data& data_of,
                           const AxisIndex& axis_index_of) const {
    std::int64_t kernel = r.next();
    a.reduced = static_cast<unsigned>(r.next());
    a.rank = r.next_int();
    for (int d = 0; d < a.rank; ++d) a.extents[d] = extents[r.next()];
    a.operand_count = r.next_int();
    for (int i = 0; i < a.operand_count; ++i) {
      Operand& o = operands[i];
      std::int64_t number = r.next(), offset = extents[r.next()];
      bool is_index = number < 0;
      o.start = is_index ? offset : 0;
      o.element_bytes = is_index ? 1 : static_cast<std::int64_t>(size_of(type_of(number)));
      o.data = is_index ? nullptr : data_of(number) + offset * o.element_bytes;
      for (int d = 0; d < a.rank; ++d) o.strides[d] = extents[r.next()];
    }
    a.operands = operands;
    a.constant_count = r.next_int();
    for (int i = 0; i < a.constant_count; ++i) constants[i] = read_constant<Constant>(r, axis_index_of);
    a.constants = constants;
    return kernel;
  }

 private:
  table_reader steps;
  const std::int64_t* mesh_words = nullptr;
  int mesh_rank = 0;
  const std::int64_t* buffer_records = nullptr;
  const std::int64_t* output_records = nullptr;

  template <class Constant, class AxisIndex>
  Constant read_constant(table_reader& r, const AxisIndex& axis_index_of) const {
    auto kind = static_cast<constant_kind>(r.next());
    auto type = static_cast<element_type>(r.next());
    std::int64_t word = r.next();
    std::int64_t integer = word;
    if (kind == constant_kind::extent) integer = extents[word];
    if (kind == constant_kind::axis_index) integer = axis_index_of(static_cast<int>(word));
    bool literal = kind == constant_kind::literal;
    switch (type) {
    case element_type::float16: return Constant::of(literal ? float16(std::bit_cast<double>(word)) : float16(integer));
    case element_type::bfloat16:
      return Constant::of(literal ? bfloat16(std::bit_cast<double>(word)) : bfloat16(integer));
    case element_type::float32:
      return Constant::of(literal ? static_cast<float>(std::bit_cast<double>(word)) : static_cast<float>(integer));
    case element_type::float64:
      return Constant::of(literal ? std::bit_cast<double>(word) : static_cast<double>(integer));
    case element_type::boolean: return Constant::of(integer != 0);
    case element_type::uint8: return Constant::of(static_cast<std::uint8_t>(integer));
    case element_type::int32: return Constant::of(static_cast<std::int32_t>(integer));
    case element_type::uint32: return Constant::of(static_cast<std::uint32_t>(integer));
    case element_type::int64: return Constant::of(integer);
    case element_type::uint64: return Constant::of(static_cast<std::uint64_t>(integer));
    }
    return {0};
  }
};

/// A step that exchanges values between devices, or takes the slice of a device's own index.
struct exchange_step {
  step_kind kind;
  std::int64_t result, source; ///< buffers
  unsigned axes;               ///< mask of mesh axes
  std::int64_t reduction;      ///< the primitive that combines
  std::int64_t outer, inner;   ///< elements before and after the dimension that is exchanged
  std::int64_t parameter_count;
  const std::int64_t* parameters;

  static exchange_step read(step_kind kind, table_reader& r, const resolved_extents& extents) {
    exchange_step s{kind, 0, 0, 0, 0, 0, 0, 0, nullptr};
    s.result = r.next(), s.source = r.next();
    s.axes = static_cast<unsigned>(r.next());
    s.reduction = r.next();
    s.outer = extents[r.next()], s.inner = extents[r.next()];
    s.parameter_count = r.next();
    s.parameters = r.skip(s.parameter_count);
    return s;
  }

  /// Where instances are cut into groups: calls `f` with each group's indices along the axes, in the group's order.
  template <class F> void each_group(const F& f) const {
    if (parameter_count == 0 || kind == step_kind::permute || kind == step_kind::broadcast) return;
    const std::int64_t *sizes = parameters + 1, *indices = sizes + parameters[0];
    for (std::int64_t group = 0; group < parameters[0]; indices += sizes[group++])
      f(std::span<const std::int64_t>(indices, static_cast<std::size_t>(sizes[group])));
  }
  /// The indices of those that the one at `here` meets, itself among them; none where it meets all.
  std::span<const std::int64_t> group_of(int here) const {
    std::span<const std::int64_t> own;
    each_group([&](std::span<const std::int64_t> group) {
      if (std::ranges::find(group, here) != group.end()) own = group;
    });
    return own;
  }

  /// Of a permutation of `size` devices: the index that the one at `here` receives from; -1 for none.
  int source_of(int here, int size) const {
    switch (static_cast<primitives::permutation_kind>(parameters[0])) {
    case primitives::permutation_kind::rotation: return static_cast<int>(((here - parameters[1]) % size + size) % size);
    case primitives::permutation_kind::shift: {
      std::int64_t from = here - parameters[1];
      return from >= 0 && from < size ? static_cast<int>(from) : -1;
    }
    case primitives::permutation_kind::pairs: break;
    }
    int found = -1;
    for (std::int64_t i = 1; i + 1 < parameter_count; i += 2)
      if (parameters[i + 1] == here) found = static_cast<int>(parameters[i]);
    return found;
  }
};

/// A matrix product with any number of batch dimensions; the result is contiguous.
struct product_step {
  std::int64_t result, left, left_offset, right, right_offset; ///< buffers, and offsets in elements
  int batch_rank;
  std::int64_t batch[max_rank], left_batch[max_rank], right_batch[max_rank];
  std::int64_t rows, columns, depth, left_row, left_depth, right_depth, right_column;
  product_precision precision;

  static product_step read(table_reader& r, const resolved_extents& extents) {
    product_step p{};
    p.result = r.next(), p.left = r.next(), p.left_offset = extents[r.next()];
    p.right = r.next(), p.right_offset = extents[r.next()];
    p.batch_rank = r.next_int();
    for (auto* list : {p.batch, p.left_batch, p.right_batch})
      for (int d = 0; d < p.batch_rank; ++d) list[d] = extents[r.next()];
    r.skip(p.batch_rank); // the result's strides
    for (std::int64_t* field :
         {&p.rows, &p.columns, &p.depth, &p.left_row, &p.left_depth, &p.right_depth, &p.right_column})
      *field = extents[r.next()];
    p.precision = static_cast<product_precision>(r.next());
    return p;
  }
};

/// A product and the loops behind it as one call of a library. The product's step follows, and then the loops'.
struct epilogue_step {
  product_activation activation;
  std::int64_t result, bias, bias_offset, auxiliary, bias_gradient; ///< buffers, -1 for none; an offset in elements
  bool sums_right;
  std::int64_t parts, words; ///< steps that follow, and their numbers in the table

  static epilogue_step read(table_reader& r, const resolved_extents& extents) {
    epilogue_step e{};
    e.activation = static_cast<product_activation>(r.next());
    e.result = r.next(), e.bias = r.next(), e.bias_offset = extents[r.next()];
    e.auxiliary = r.next(), e.bias_gradient = r.next();
    e.sums_right = r.next() != 0;
    e.parts = r.next(), e.words = r.next();
    return e;
  }
};

/// Reads a step that is no call, and calls `visit` with each buffer that it touches.
template <class Visit>
void visit_buffers(step_kind kind, table_reader& r, const resolved_extents& extents, const Visit& visit) {
  if (kind == step_kind::kernel) {
    r.skip(2); // the kernel, its reduced dimensions
    const std::int64_t rank = r.next();
    r.skip(rank);
    for (std::int64_t count = r.next(); count > 0; --count) {
      if (const std::int64_t number = r.next(); number >= 0) visit(number);
      r.skip(1 + rank);
    }
    r.skip(3 * r.next());
  } else if (kind == step_kind::product) {
    const auto step = product_step::read(r, extents);
    visit(step.result), visit(step.left), visit(step.right);
  } else if (kind == step_kind::epilogue) {
    const auto step = epilogue_step::read(r, extents);
    if (step.auxiliary >= 0) visit(step.auxiliary);
    for (std::int64_t count = step.parts; count > 0; --count)
      visit_buffers(static_cast<step_kind>(r.next()), r, extents, visit);
  } else {
    const auto step = exchange_step::read(kind, r, extents);
    visit(step.result), visit(step.source);
  }
}

} // namespace parallax::detail
