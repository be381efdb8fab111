// How much memory a block of a program needs on each of its devices: what an error says where there is too little.
#pragma once

#include <parallax/runtime/section_call.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace parallax::cuda {

struct memory_need {
  std::size_t arguments = 0, results = 0, intermediate = 0;

  /// Of block `number` of a program, which has `devices` where it has sections.
  static memory_need of_block(const std::int64_t* whole, int number, const parallax::detail::resolved_extents& extents,
                              int devices) {
    using parallax::detail::buffer_place;
    const parallax::detail::block_table table(whole, number, extents);
    std::vector<bool> is_read(static_cast<std::size_t>(table.buffer_count));
    for_each_read(whole, table, devices,
                  [&](std::int64_t buffer) { is_read[static_cast<std::size_t>(buffer)] = true; });
    memory_need need;
    for (std::int64_t i = 0; i < table.buffer_count; ++i) {
      if (table.place_of(i) == buffer_place::output) need.results += table.bytes_of(i);
      if (table.place_of(i) == buffer_place::value && is_read[static_cast<std::size_t>(i)])
        need.arguments += table.bytes_of(i);
    }
    std::vector<std::size_t> slots(static_cast<std::size_t>(table.slot_count) + 1);
    table.plan_slots(slots);
    need.intermediate = slots.back();
    return need;
  }

  memory_need& operator+=(const memory_need& more) {
    arguments += more.arguments, results += more.results, intermediate += more.intermediate;
    return *this;
  }
  std::size_t bytes() const { return arguments + results + intermediate; }
  std::string text() const {
    return std::to_string(bytes()) + " bytes there: " + std::to_string(arguments) + " for arguments, " +
           std::to_string(results) + " for results, " + std::to_string(intermediate) + " for intermediate values";
  }

 private:
  /// Calls `visit` with the buffers that the block's own steps touch; what it passes on to sections is not among them.
  template <class Visit>
  static void for_each_read(const std::int64_t* whole, const parallax::detail::block_table& table, int devices,
                            const Visit& visit) {
    using parallax::detail::step_kind;
    parallax::detail::table_reader r = table.read_steps();
    for (std::int64_t count = r.next(); count > 0; --count) {
      const auto kind = static_cast<step_kind>(r.next());
      if (kind == step_kind::call) parallax::detail::section_call::read(whole, r, table.extents, devices, "");
      else parallax::detail::visit_buffers(kind, r, table.extents, visit);
    }
  }
};

} // namespace parallax::cuda
