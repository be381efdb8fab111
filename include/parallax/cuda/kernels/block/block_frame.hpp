// Where one block that runs a loop finds the buffers of a section.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/block/block_loop_memory.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/plan.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A buffer of a section of static extents.
template <class Program, section_id Section, int Buffer> struct static_buffer {
  static constexpr buffer_record record = Program::plan[Program::plan.section(Section).buffers][index_of(Buffer)];
  using type = element_t<record.type>;
  static constexpr int bytes = static_cast<int>(size_of(record.type));
  static constexpr std::size_t number = record.kind == buffer_kind::slot ? 0 : index_of(record.number);
  static constexpr std::size_t slot_offset = [] {
    const block_loop_memory memory(Program::plan);
    if (record.kind != buffer_kind::slot) return std::size_t{0};
    return memory.slot_offset(Section, record.number) + index_of(record.offset);
  }();
};

/// The buffers of a section. `Places` gives the addresses of values and outputs, `value<Number>()` and
/// `output<Number>()`. Slots are in shared memory behind `Memory` bytes, the first of which are for a step that needs
/// memory itself.
template <class Program, section_id Section, std::size_t Memory, class Places> struct section_frame {
  using program = Program;
  static constexpr section_id section = Section;
  static constexpr std::size_t memory_behind =
      Memory + [] { return block_loop_memory(Program::plan).slots_of(Section); }();
  const Places& places;
  std::byte* shared;
  const std::int32_t* axis_indices; ///< of the device along each axis of the mesh

  template <int Buffer> PARALLAX_DEVICE PARALLAX_INLINE std::byte* address() const {
    using buffer = static_buffer<Program, Section, Buffer>;
    if constexpr (buffer::record.kind == buffer_kind::bound) return places.template value<buffer::number>();
    else if constexpr (buffer::record.kind == buffer_kind::output) return places.template output<buffer::number>();
    else {
      static_assert(buffer::record.kind == buffer_kind::slot);
      return shared + (Memory + buffer::slot_offset);
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
