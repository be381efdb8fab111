// What a program costs, as constants: operations, bytes, memory.
#pragma once

#include <parallax/compile/program.hpp>
#include <parallax/compile/trace/expression.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/section_steps.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The exchanges of one kind: how many there are, counted once for all devices together, and the bytes that all devices
/// contribute.
struct exchange_cost {
  std::int64_t count = 0;
  std::int64_t bytes = 0;

  friend constexpr bool operator==(const exchange_cost&, const exchange_cost&) = default;
};

/// The cost of one call of a program, on all devices together, as this library plans it: values between fused
/// operations are neither written nor read.
struct program_cost {
  std::int64_t flops = 0;      ///< elementwise operations and reductions one for each element, products two
  std::int64_t bytes_read = 0; ///< elements of arrays, each once for a kernel or product that reads it
  std::int64_t bytes_written = 0;
  std::int64_t peak_bytes = 0; ///< arguments, results and all that lies between them at once
  std::array<exchange_cost, std::size_t{detail::exchange_kind_count}> exchanges{};

  /// Of one kind: `exchange_kind::all_reduce` and so on.
  constexpr const exchange_cost& of(detail::exchange_kind kind) const {
    return exchanges[static_cast<std::size_t>(kind)];
  }
  /// Of all kinds.
  constexpr std::int64_t bytes_exchanged() const {
    std::int64_t total = 0;
    for (const exchange_cost& each : exchanges) total += each.bytes;
    return total;
  }
  constexpr std::int64_t collectives() const {
    std::int64_t total = 0;
    for (const exchange_cost& each : exchanges) total += each.count;
    return total;
  }

  friend constexpr bool operator==(const program_cost&, const program_cost&) = default;
};

namespace detail {

/// Adds up a plan of static extents.
class cost_counter {
 public:
  constexpr explicit cost_counter(const compiled::plan_view& of) : plan(of) {}

  constexpr program_cost run() const {
    program_cost total = of_section(section_id::main);
    total.peak_bytes = memory_of(section_id::main);
    return total;
  }

 private:
  const compiled::plan_view& plan;

  /// Calls `f` with each number of two costs but the peaks.
  template <class F> static constexpr void for_each_pair(program_cost& a, const program_cost& b, const F& f) {
    f(a.flops, b.flops), f(a.bytes_read, b.bytes_read), f(a.bytes_written, b.bytes_written);
    for (std::size_t kind = 0; kind < a.exchanges.size(); ++kind) {
      f(a.exchanges[kind].count, b.exchanges[kind].count);
      f(a.exchanges[kind].bytes, b.exchanges[kind].bytes);
    }
  }
  static constexpr program_cost times(std::int64_t count, program_cost one) {
    for_each_pair(one, one, [&](std::int64_t& each, std::int64_t) { each *= count; });
    return one;
  }
  static constexpr void add(program_cost& sum, const program_cost& more) {
    for_each_pair(sum, more, [](std::int64_t& x, std::int64_t y) { x += y; });
  }

  constexpr const compiled::buffer_record& buffer(section_id section, buffer_id id) const {
    return plan[plan.section(section).buffers][index_of(id)];
  }
  constexpr std::int64_t bytes_of(const compiled::buffer_record& of) const {
    return of.count.number() * static_cast<std::int64_t>(size_of(of.type));
  }
  constexpr std::int64_t devices_of(section_id section) const {
    std::int64_t count = 1;
    for (dim size : plan[plan.section(section).mesh]) count *= size.number();
    return count;
  }

  constexpr program_cost of_section(section_id section) const {
    program_cost sum;
    compiled::for_each_step(plan, section,
                            [&](const compiled::step_record& step) { add(sum, of_step(section, step)); });
    return sum;
  }
  constexpr program_cost of_step(section_id section, const compiled::step_record& step) const {
    using compiled::step_kind;
    switch (step.kind) {
    case step_kind::kernel: return of_kernel(section, plan.at<compiled::kernel_step>(step.index));
    case step_kind::product: return of_product(section, plan.at<compiled::product_step>(step.index));
    case step_kind::exchange: {
      const compiled::exchange_step& exchange = plan.at<compiled::exchange_step>(step.index);
      program_cost cost;
      cost.exchanges[static_cast<std::size_t>(exchange.kind)] = {1, bytes_of(buffer(section, exchange.source))};
      return cost;
    }
    case step_kind::axis_slice: {
      const std::int64_t bytes = bytes_of(buffer(section, plan.at<compiled::axis_slice_step>(step.index).result));
      return {.bytes_read = bytes, .bytes_written = bytes};
    }
    case step_kind::mapped_section: {
      const section_id called = plan.at<compiled::mapped_section_step>(step.index).section;
      const program_cost one = of_section(called);
      program_cost all = times(devices_of(called), one);
      for (std::size_t kind = 0; kind < all.exchanges.size(); ++kind)
        all.exchanges[kind].count = one.exchanges[kind].count;
      return all;
    }
    case step_kind::scan: {
      const compiled::scan_step& loop = plan.at<compiled::scan_step>(step.index);
      return times(loop.count.number(), of_section(loop.body));
    }
    case step_kind::while_loop: { // the number of rounds is unknown: one counts
      const compiled::while_step& loop = plan.at<compiled::while_step>(step.index);
      program_cost once = of_section(loop.predicate);
      add(once, of_section(loop.body));
      return once;
    }
    case step_kind::cond: return of_branches(plan.at<compiled::cond_step>(step.index));
    case step_kind::ffi: return of_ffi(section, plan.at<compiled::ffi_step>(step.index));
    case step_kind::epilogue:
    case step_kind::accumulation:
    case step_kind::placed_product:
    case step_kind::launch_batch: break; // their parts are steps
    }
    return {};
  }
  /// A user's function: the bytes of its arrays count, its operations are unknown.
  constexpr program_cost of_ffi(section_id section, const compiled::ffi_step& step) const {
    program_cost cost;
    for (int k = 0; k < step.arrays.count; ++k) {
      const std::int64_t bytes = bytes_of(buffer(section, plan[step.arrays][index_of(k)].buffer));
      (k < step.arguments ? cost.bytes_read : cost.bytes_written) += bytes;
    }
    return cost;
  }
  /// The largest of each number among the branches.
  constexpr program_cost of_branches(const compiled::cond_step& step) const {
    program_cost most;
    for (const section_id branch : plan[step.branches]) {
      for_each_pair(most, of_section(branch), [](std::int64_t& x, std::int64_t y) { x = std::max(x, y); });
    }
    return most;
  }

  constexpr program_cost of_kernel(section_id section, const compiled::kernel_step& step) const {
    const compiled::kernel_record& kernel = plan.at<compiled::kernel_record>(static_cast<int>(step.kernel));
    std::int64_t elements = 1;
    for (dim extent : plan[step.extents]) elements *= extent.number();
    program_cost cost = of_statements(section, step, plan[kernel.statements], elements);
    if (combines(kernel)) cost.flops += elements;
    if (kernel.result != compiled::kernel_result::rows && kernel.result != compiled::kernel_result::scattered)
      cost.bytes_written += bytes_at(section, step, 0);
    return cost;
  }
  constexpr program_cost of_statements(section_id section, const compiled::kernel_step& step,
                                       plain_span<const compiled::kernel_statement> statements,
                                       std::int64_t elements) const {
    program_cost cost;
    for (const compiled::kernel_statement& s : statements) {
      using compiled::statement_kind;
      switch (s.kind) {
      case statement_kind::compute:
        if (s.primitive != primitives::id_of<primitives::stop_gradient>) cost.flops += elements;
        break;
      case statement_kind::reduce_row: cost.flops += elements; break;
      case statement_kind::load_vector:
      case statement_kind::load_scalar:
      case statement_kind::load_strided: cost.bytes_read += bytes_at(section, step, s.argument); break;
      case statement_kind::store_vector:
      case statement_kind::store_row: cost.bytes_written += bytes_at(section, step, s.argument); break;
      case statement_kind::gather_each:
      case statement_kind::gather_row: cost.bytes_read += elements * size_at(section, step, s.argument); break;
      case statement_kind::scatter_each:
      case statement_kind::scatter_row:
        cost.flops += elements;
        cost.bytes_read += elements * size_at(section, step, s.argument);
        cost.bytes_written += elements * size_at(section, step, s.argument);
        break;
      case statement_kind::load_index:
      case statement_kind::load_constant: break;
      }
    }
    return cost;
  }
  /// Whether a kernel combines each element that its statements compute with others.
  static constexpr bool combines(const compiled::kernel_record& kernel) {
    using compiled::kernel_result;
    switch (kernel.result) {
    case kernel_result::reduction:
    case kernel_result::cumulative:
    case kernel_result::reverse_cumulative: return true;
    case kernel_result::vector:
    case kernel_result::strided: return kernel.reduction != primitive_id::input;
    case kernel_result::rows:
    case kernel_result::sorted:
    case kernel_result::scattered: return false;
    }
    return false;
  }
  constexpr std::int64_t size_at(section_id section, const compiled::kernel_step& step, int operand) const {
    return static_cast<std::int64_t>(size_of(buffer(section, plan[step.operands][index_of(operand)].buffer).type));
  }
  /// The bytes that a loop reads or writes through one operand: an element that is repeated along a dimension counts
  /// once.
  constexpr std::int64_t bytes_at(section_id section, const compiled::kernel_step& step, int operand) const {
    const compiled::operand_record& o = plan[step.operands][index_of(operand)];
    std::int64_t elements = 1;
    for (int d = 0; d < step.extents.count; ++d)
      if (!(plan[o.strides][index_of(d)] == 0)) elements *= plan[step.extents][index_of(d)].number();
    return elements * size_at(section, step, operand);
  }

  constexpr program_cost of_product(section_id section, const compiled::product_step& step) const {
    std::int64_t batch = 1, left = 1, right = 1;
    for (int d = 0; d < step.batch.count; ++d) {
      const std::int64_t extent = plan[step.batch][index_of(d)].number();
      batch *= extent;
      if (!(plan[step.left_batch][index_of(d)] == 0)) left *= extent;
      if (!(plan[step.right_batch][index_of(d)] == 0)) right *= extent;
    }
    const std::int64_t rows = step.rows.number(), columns = step.columns.number(), depth = step.depth.number();
    const auto bytes = [&](buffer_id id) { return static_cast<std::int64_t>(size_of(buffer(section, id).type)); };
    return {.flops = 2 * batch * rows * columns * depth,
            .bytes_read = left * rows * depth * bytes(step.left) + right * depth * columns * bytes(step.right),
            .bytes_written = batch * rows * columns * bytes(step.result)};
  }

  /// The bytes of a section: its slots, each as large as its largest buffer; its values and outputs, unless it is a
  /// loop's body; and the most that the bodies of one step need.
  constexpr std::int64_t memory_of(section_id section, bool is_body = false) const {
    const compiled::section_record& record = plan.section(section);
    growing_vector<std::int64_t> slots(index_of(record.slot_count), 0);
    std::int64_t sum = 0, bodies = 0;
    for (const compiled::buffer_record& each : plan[record.buffers]) {
      switch (each.kind) {
      case compiled::buffer_kind::slot: {
        std::int64_t& slot = slots[index_of(each.number)];
        slot = std::max(slot, each.offset + bytes_of(each));
        break;
      }
      case compiled::buffer_kind::bound:
      case compiled::buffer_kind::output:
        if (!is_body) sum += bytes_of(each); // a body's are its loop's
        break;
      }
    }
    for (const std::int64_t slot : slots) sum += slot;
    compiled::for_each_step(plan, section, [&](const compiled::step_record& step) {
      if (step.kind == compiled::step_kind::mapped_section) {
        const section_id called = plan.at<compiled::mapped_section_step>(step.index).section;
        bodies = std::max(bodies, devices_of(called) * memory_of(called));
      }
      compiled::for_each_body(plan, step, [&](section_id body) { bodies = std::max(bodies, memory_of(body, true)); });
    });
    return sum + bodies;
  }
};

} // namespace detail

/// What a call of `function` costs with arguments like these, `shaped<float, 3, 4>` and so on, whose extents are
/// static: a constant, for `static_assert` too. A `while_loop` counts as one round, and of branches the dearest. JAX:
/// Compiled.cost_analysis and memory_analysis
template <class Function, class... Args> constexpr program_cost cost(const Function&, const Args&...) {
  static_assert(detail::is_stateless<Function>, "parallax: the outermost function must not capture: make captured "
                                                "functions static constexpr, and pass captured values as arguments");
  using program = detail::program<Function, detail::abstract_t<Args>...>;
  static_assert(program::valid, "parallax: cost: the function's program has an error, which a call of it shows");
  if constexpr (program::valid) {
    constexpr bool is_static = program::plan.template size<compiled::entry_record>() == 0;
    static_assert(is_static, "parallax: cost: an extent is not static: give each extent of shaped<...> as a number");
    if constexpr (is_static) return detail::cost_counter(program::plan).run();
  }
  return {};
}

} // namespace parallax::PARALLAX_INLINE_VERSION
