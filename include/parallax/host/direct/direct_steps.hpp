// Which programs are called directly: their steps are compiled into the call, instead of being read from the plan.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/host/names.hpp>
#include <parallax/primitives/all.hpp>
#include <parallax/program/plan.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parallax::host {

/// The largest number of rows, columns or terms of a product that is written out.
inline constexpr std::int64_t most_of_small_product = 16;

/// The most numbers that are written out, which costs compilers some milliseconds for each. Programs that have no
/// runtime save more by it.
inline constexpr std::int64_t most_straight = 1024, most_straight_alone = 8192;

/// What a section of a program does, its epilogues in parts.
template <class Program, section_id Section = section_id::main> struct direct_steps {
  static constexpr section_record section = Program::plan.section(Section);

  template <class F> static constexpr void for_each_step(record_list<step_record> steps, F& f) {
    for (const step_record& step : Program::plan[steps]) {
      if (step.kind == step_kind::epilogue)
        for_each_step(Program::plan.template at<epilogue_step>(step.index).parts, f);
      else f(step);
    }
  }
  /// The section of a scan's body.
  static constexpr section_id body_of(const step_record& step) {
    return Program::plan.template at<scan_step>(step.index).body;
  }
  /// The steps of a section, with those of its scans' bodies.
  static constexpr int count_all(section_id of) {
    int number = 0;
    auto add = [&](const step_record& step) {
      number += step.kind == step_kind::scan ? 1 + count_all(body_of(step)) : 1;
    };
    for_each_step(Program::plan.section(of).steps, add);
    return number;
  }
  static constexpr int count = [] {
    int number = 0;
    auto add = [&](const step_record&) { ++number; };
    for_each_step(section.steps, add);
    return number;
  }();
  static constexpr auto all = [] {
    std::array<step_record, index_of(count)> steps{};
    std::size_t number = 0;
    auto add = [&](const step_record& step) { steps[number++] = step; };
    for_each_step(section.steps, add);
    return steps;
  }();

  static constexpr bool stays(section_id of) {
    bool all_stay = true;
    auto look = [&](const step_record& step) {
      switch (step.kind) {
      case step_kind::kernel:
      case step_kind::product:
      case step_kind::epilogue: break;
      case step_kind::scan: all_stay = all_stay && stays(body_of(step)); break;
      case step_kind::exchange:
      case step_kind::axis_slice:
      case step_kind::call: all_stay = false; break;
      }
    };
    for_each_step(Program::plan.section(of).steps, look);
    return all_stay;
  }
  /// Whether there is nothing that needs devices: only loops, products and scans of them, whose results are arrays of
  /// the host.
  static constexpr bool stay_on_host = [] {
    for (const output_record& output : Program::plan[section.outputs])
      if (output.value != value_id::none) return false;
    return stays(Section);
  }();

  /// Whether all extents of a section are known, those of its scans' bodies among them.
  static constexpr bool has_static_extents(section_id of) {
    bool known = true;
    auto look = [&](dim extent) { known = known && is_static(extent); };
    for (const buffer_record& buffer : Program::plan[Program::plan.section(of).buffers])
      visit_extents(Program::plan, buffer, look);
    auto look_at_step = [&](const step_record& step) {
      visit_extents(Program::plan, step, look);
      if (step.kind == step_kind::scan) known = known && has_static_extents(body_of(step));
    };
    for_each_step(Program::plan.section(of).steps, look_at_step);
    return known;
  }
  static constexpr bool are_static = Program::plan.template all<entry_record>().empty() || has_static_extents(Section);

  /// Numbers that statements of all steps compute, where extents are static.
  static constexpr std::int64_t most = std::int64_t{1} << 40;
  static constexpr std::int64_t capped(std::int64_t a, std::int64_t b) {
    return a == 0 ? 0 : b > most / a ? most : a * b;
  }
  /// Positions have kernels of their own, and random bits are long computations, made for many at once.
  static constexpr bool is_for_loops(primitive_id id) {
    return id == primitives::id_of<primitives::argmax> || id == primitives::id_of<primitives::argmin> ||
           id == primitives::id_of<primitives::threefry2x32> || id == primitives::id_of<primitives::philox4x32>;
  }
  static constexpr std::int64_t numbers_of(const kernel_step& step) {
    const kernel_record& kernel = Program::plan.template at<kernel_record>(static_cast<int>(step.kernel));
    if (is_for_loops(kernel.reduction)) return most;
    for (const kernel_statement& statement : Program::plan[kernel.statements])
      if (is_for_loops(statement.primitive)) return most;
    std::int64_t computed = kernel.statements.count;
    for (dim extent : Program::plan[step.extents])
      computed = extent.number() == 0 ? most : capped(computed, extent.number()); // sums of nothing are left to loops
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
  /// The numbers of a section of static extents. A scan's body is compiled once.
  static constexpr std::int64_t count_numbers(section_id of) {
    std::int64_t sum = 0;
    auto add = [&](const step_record& step) {
      if (step.kind == step_kind::product) sum += numbers_of(Program::plan.template at<product_step>(step.index));
      else if (step.kind == step_kind::scan) sum += count_numbers(body_of(step));
      else sum += numbers_of(Program::plan.template at<kernel_step>(step.index));
    };
    for_each_step(Program::plan.section(of).steps, add);
    return sum;
  }
  static constexpr bool is_straight(section_id of, std::int64_t limit) {
    return stays(of) && (Program::plan.template all<entry_record>().empty() || has_static_extents(of)) &&
           count_numbers(of) <= limit;
  }
  static constexpr std::int64_t numbers = are_static && stay_on_host ? count_numbers(Section) : most;

  static constexpr bool are_straight = numbers <= most_straight, are_straight_alone = numbers <= most_straight_alone;
  /// Whether the bodies of scans are written out, which all that are compiled into a call are.
  static constexpr bool have_straight_scans(std::int64_t limit) {
    for (const step_record& step : all)
      if (step.kind == step_kind::scan && !is_straight(body_of(step), limit)) return false;
    return true;
  }
  /// Compiled into the call.
  static constexpr int most_direct = 16;
  static constexpr bool are_direct = [] {
    if (!stay_on_host) return false;
    if (are_straight) return true;
    return have_straight_scans(most_straight) && count_all(Section) <= most_direct &&
           Program::plan.template all<entry_record>().size() <= 32 &&
           Program::plan.template all<guard_record>().size() <= 32;
  }();
};

} // namespace parallax::host
