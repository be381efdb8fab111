// The memory that a section of a program needs on each of its devices, for the error if there is too little.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/steps/batch_addresses.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

struct memory_need {
  std::size_t arguments = 0, results = 0, intermediate = 0;

  /// The need of a section. Values that it only passes on do not count.
  static memory_need of(const section_plan& section) {
    std::vector<bool> is_read(section.buffers().size());
    for (const step_record& step : section.steps())
      if (step.kind != step_kind::mapped_section)
        visit_buffers(section.plan, step, [&](buffer_id id) { is_read[index_of(id)] = true; });
    memory_need need;
    for (std::size_t i = 0; i < is_read.size(); ++i) {
      const buffer_record& buffer = section.buffers()[i];
      if (buffer.kind == buffer_kind::output) need.results += section.bytes_of(buffer);
      if (buffer.kind == buffer_kind::bound && is_read[i]) need.arguments += section.bytes_of(buffer);
    }
    std::vector<std::size_t> slots(index_of(section.section.slot_count) + 1);
    section.plan_slots(slots);
    need.intermediate = aligned(slots.back()) + bytes_of_matrix_addresses(section);
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
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
