// Sections as records: their buffers, their outputs, and the kinds of their steps.
#pragma once

#include <parallax/core/trace/dims.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/record_members.hpp>
#include <parallax/program/shape_records.hpp>

#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

enum class buffer_kind : int {
  bound,  ///< the memory of a value: an argument of the section or the result of a call
  output, ///< memory of its own, given to the caller
  slot    ///< memory shared with others that are not live at the same time
};

/// A contiguous array of one section.
struct buffer_record {
  buffer_kind kind = buffer_kind::slot;
  int number = -1; ///< of the value, output or slot
  element_type type = element_type::float32;
  dim count{};             ///< of elements
  std::int64_t offset = 0; ///< of a slot: where the buffer begins in that, in bytes, a multiple of `slot_alignment`
  /// Of a slot: the output whose memory this buffer may use, unless that output already uses an argument's; -1 for
  /// none.
  int output = -1;
  static constexpr void describe(auto& r, auto& field) {
    field(r.kind);
    field(r.number);
    field(r.type);
    field(r.count);
    field(r.offset);
    field(r.output);
  }
};

/// The alignment of slots, and of buffers that lie side by side in one: enough for a device's memory, and for the
/// host's registers.
inline constexpr std::int64_t slot_alignment = 256;

/// A dimension of an operand or a result that is spread over an axis of the mesh.
struct spread_dimension {
  mesh_axis over = mesh_axis::outermost;
  int dimension = 0; ///< of the logical array
  dim before{};      ///< of an operand: the number of elements before it
  static constexpr void describe(auto& r, auto& field) {
    field(r.over);
    field(r.dimension);
    field(r.before);
  }
};

/// A result of a section: a buffer of its own, or (of the main section) a value that stays where it is.
struct output_record {
  value_id value = value_id::none;
  value_record described{};
  record_list<spread_dimension> spread{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.value);
    field(r.described);
    field(r.spread);
  }
};

enum class step_kind : int {
  kernel,
  product,
  epilogue,       ///< a product and loops behind it, for a library that does all of them in one call
  accumulation,   ///< a product and the loop that adds it to something, likewise
  placed_product, ///< a product and the loop that copies it to other places, likewise
  launch_batch,   ///< loops that need nothing of one another, for a device that launches them as one
  exchange,       ///< between devices
  axis_slice,
  mapped_section, ///< on devices
  scan,
  while_loop,
  cond,
  ffi
};

constexpr std::string_view name_of(step_kind kind) {
  switch (kind) {
  case step_kind::kernel: return "kernel";
  case step_kind::product: return "product";
  case step_kind::epilogue: return "epilogue";
  case step_kind::accumulation: return "accumulation";
  case step_kind::placed_product: return "placed_product";
  case step_kind::launch_batch: return "launch_batch";
  case step_kind::exchange: return "exchange";
  case step_kind::axis_slice: return "axis_slice";
  case step_kind::mapped_section: return "mapped_section";
  case step_kind::scan: return "scan";
  case step_kind::while_loop: return "while_loop";
  case step_kind::cond: return "cond";
  case step_kind::ffi: return "ffi";
  }
  return "";
}

/// Whether a step runs other sections.
constexpr bool runs_sections(step_kind kind) {
  switch (kind) {
  case step_kind::mapped_section:
  case step_kind::scan:
  case step_kind::while_loop:
  case step_kind::cond: return true;
  case step_kind::kernel:
  case step_kind::product:
  case step_kind::epilogue:
  case step_kind::accumulation:
  case step_kind::placed_product:
  case step_kind::launch_batch:
  case step_kind::exchange:
  case step_kind::axis_slice:
  case step_kind::ffi: return false;
  }
  return false;
}

/// A step of a section: which record it is, in the pool of its kind.
struct step_record {
  step_kind kind = step_kind::kernel;
  int index = 0;
  static constexpr void describe(auto& r, auto& field) {
    field(r.kind);
    field(r.index);
  }
};

struct section_record {
  record_list<dim> mesh{}; ///< the sizes of its axes; empty for the main section
  dim axis_size{};         ///< size of the outermost axis over all processes; 0 if nothing depends on it
  /// Whether all devices of all processes make up the mesh. A process may then have a part of each axis.
  bool is_whole_mesh = false;
  int argument_count = 0, value_count = 0, slot_count = 0;
  record_list<buffer_record> buffers{};
  record_list<output_record> outputs{};
  record_list<step_record> steps{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.mesh);
    field(r.axis_size);
    field(r.is_whole_mesh);
    field(r.argument_count);
    field(r.value_count);
    field(r.slot_count);
    field(r.buffers);
    field(r.outputs);
    field(r.steps);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
