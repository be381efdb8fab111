// Programs that are called directly: their steps are compiled into the call, instead of being read from the plan.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/kernels/products/product_arguments.hpp>
#include <parallax/host/names.hpp>
#include <parallax/primitives/all.hpp>
#include <parallax/program/plan.hpp>
#include <parallax/program/section_steps.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// The largest number of rows, columns or terms of a product that is written out.
inline constexpr std::int64_t most_of_small_product = 16;

/// The most numbers that are written out, since compilers take some milliseconds for each. A round of a loop may have
/// more, since it runs again and again, and so may a program without a runtime.
inline constexpr std::int64_t most_straight = 1024, most_straight_round = 4096, most_straight_alone = 8192;

/// The steps of a section, those with parts as these.
template <class Program, section_id Section = section_id::main> struct direct_steps {
  static constexpr section_record section = Program::plan.section(Section);

  static constexpr int count = [] {
    int number = 0;
    for_each_step(Program::plan, Section, [&](const step_record&) { ++number; });
    return number;
  }();
  static constexpr auto all = [] {
    std::array<step_record, index_of(count)> steps{};
    std::size_t number = 0;
    for_each_step(Program::plan, Section, [&](const step_record& step) { steps[number++] = step; });
    return steps;
  }();

  /// Whether a section needs no devices: it has kernels and products only, and loops and branches of these, and its
  /// results are arrays of the host.
  static constexpr bool stay_on_host = [] {
    for (const output_record& output : Program::plan[section.outputs])
      if (output.value != value_id::none) return false;
    return needs_no_devices(Program::plan, Section);
  }();

  static constexpr bool are_static = has_static_extents(Program::plan, Section);

  /// Numbers that statements of all steps compute, if extents are static.
  static constexpr std::int64_t most = std::int64_t{1} << 40;
  static constexpr std::int64_t capped(std::int64_t a, std::int64_t b) {
    return a == 0 ? 0 : b > most / a ? most : a * b;
  }
  /// Positions have kernels of their own, and random bits are long computations, made for many at once.
  static constexpr bool is_for_loops(primitive_id id) {
    return id == primitives::id_of<primitives::argmax> || id == primitives::id_of<primitives::argmin> ||
           id == primitives::id_of<primitives::threefry2x32> || id == primitives::id_of<primitives::philox4x32> ||
           id == primitives::id_of<primitives::wide_remainder>;
  }
  /// Whether results depend on one another, so that elements cannot be computed each by itself.
  static constexpr bool is_ordered(kernel_result result) {
    switch (result) {
    case kernel_result::cumulative:
    case kernel_result::reverse_cumulative:
    case kernel_result::sorted: return true;
    case kernel_result::vector:
    case kernel_result::strided:
    case kernel_result::reduction:
    case kernel_result::rows:
    case kernel_result::scattered: return false; // made in the order of positions
    }
    return true;
  }
  static constexpr std::int64_t numbers_of(const kernel_step& step) {
    const kernel_record& kernel = Program::plan.template at<kernel_record>(static_cast<int>(step.kernel));
    if (is_for_loops(kernel.reduction) || is_ordered(kernel.result)) return most;
    for (const kernel_statement& statement : Program::plan[kernel.statements])
      if (is_for_loops(statement.primitive)) return most;
    std::int64_t computed = kernel.statements.count;
    for (dim extent : Program::plan[step.extents])
      computed = extent.number() == 0 ? most : capped(computed, extent.number()); // loops compute sums of no elements
    return computed;
  }
  static constexpr std::int64_t numbers_of(const product_step& step) {
    std::int64_t products = 1;
    for (dim extent : Program::plan[step.batch]) products = capped(products, extent.number());
    const bool fits = has_small_product(step) && products <= 16;
    return fits ? capped(products, step.rows.number() * step.columns.number() * step.depth.number() / 4) : most;
  }
  /// Whether a product has so small matrices that no library is called.
  static constexpr bool has_small_product(const product_step& step) {
    auto is_small = [](dim extent) {
      return is_static(extent) && extent.number() >= 1 && extent.number() <= most_of_small_product;
    };
    return is_small(step.rows) && is_small(step.columns) && is_small(step.depth);
  }
  /// The number of steps that a step counts for: its parts, if it has any.
  static constexpr int part_count(const step_record& step) {
    int number = 0;
    for_each_part(Program::plan, step, [&](const step_record&) { ++number; });
    return number;
  }
  /// Whether a product may be added to its base while it is computed.
  static constexpr bool accumulates(const accumulation_step& e) {
    const element_type type = Program::plan[section.buffers][index_of(e.result)].type;
    const product_step& product = product_of(Program::plan, e);
    return has_accumulation(type) && !has_small_product(product) &&
           !(is_static(product.depth) && product.depth.number() > most_accumulated_depth);
  }
  /// By step: the accumulation that the step is the first or the last part of, if that adds a product to its base while
  /// it is computed; otherwise -1. The first part is the product, the last one the loop that would add it.
  static constexpr auto accumulations = [] {
    std::array<int, index_of(count)> by_step{};
    by_step.fill(-1);
    int first = 0;
    for (const step_record& step : Program::plan[section.steps]) {
      const int last = first + part_count(step) - 1;
      if (step.kind == step_kind::accumulation && accumulates(Program::plan.template at<accumulation_step>(step.index)))
        by_step[index_of(first)] = by_step[index_of(last)] = step.index;
      first = last + 1;
    }
    return by_step;
  }();
  /// The numbers that a section of static extents computes. A loop's body counts once.
  static constexpr std::int64_t count_numbers(section_id of) {
    std::int64_t sum = 0;
    for_each_step(Program::plan, of, [&](const step_record& step) {
      switch (step.kind) {
      case step_kind::product: sum += numbers_of(Program::plan.template at<product_step>(step.index)); break;
      case step_kind::kernel: sum += numbers_of(Program::plan.template at<kernel_step>(step.index)); break;
      case step_kind::ffi: sum += most; break;
      case step_kind::epilogue:
      case step_kind::accumulation:
      case step_kind::placed_product:
      case step_kind::launch_batch: // made of others
      case step_kind::exchange:
      case step_kind::axis_slice:
      case step_kind::mapped_section: // with devices
      case step_kind::scan:
      case step_kind::while_loop:
      case step_kind::cond: break; // their bodies
      }
      for_each_body(Program::plan, step, [&](section_id body) { sum += count_numbers(body); });
    });
    return sum;
  }
  /// The numbers that a section computes; more than any limit if it cannot be written out.
  static constexpr std::int64_t numbers_in(section_id of) {
    return needs_no_devices(Program::plan, of) && has_static_extents(Program::plan, of) ? count_numbers(of) : most;
  }
  static constexpr std::int64_t numbers = stay_on_host ? numbers_in(Section) : most;

  static constexpr bool are_straight = numbers <= most_straight, are_straight_alone = numbers <= most_straight_alone;
  /// Whether the sections that a step runs are written out.
  static constexpr bool has_straight_bodies(const step_record& step) {
    bool all_straight = true;
    for_each_body(Program::plan, step,
                  [&](section_id body) { all_straight = all_straight && numbers_in(body) <= most_straight_round; });
    return all_straight;
  }
  /// The most steps that are compiled into a call, those of bodies among them.
  static constexpr int most_direct = 16;
  static constexpr int steps_in(section_id of) {
    int number = 0;
    for_each_step(Program::plan, of, [&](const step_record& step) {
      ++number;
      if (!has_straight_bodies(step))
        for_each_body(Program::plan, step, [&](section_id body) { number += steps_in(body); });
    });
    return number;
  }
  static constexpr bool are_direct =
      stay_on_host &&
      (are_straight || (steps_in(Section) <= most_direct && Program::plan.template all<entry_record>().size() <= 32 &&
                        Program::plan.template all<guard_record>().size() <= 32));
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
