// The buffers of a section whose numbers are written out.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/direct/direct_steps.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Slots have objects of their own, so that the compiler may keep small ones in registers.
template <class Program, section_id Section> struct straight_buffers {
  static constexpr section_record section = Program::plan.section(Section);
  static constexpr const buffer_record& record(int buffer) { return Program::plan[section.buffers][index_of(buffer)]; }
  template <int Buffer> using element_of = element_t<record(Buffer).type>;

  template <int Buffer> struct own {
    element_of<Buffer> values[index_of(record(Buffer).count.number())];
  };
  template <int Buffer> struct nothing {};
  template <int Buffer> static constexpr auto own_or_nothing() {
    if constexpr (record(Buffer).kind == buffer_kind::slot && record(Buffer).count.number() > 0)
      return std::type_identity<own<Buffer>>{};
    else return std::type_identity<nothing<Buffer>>{};
  }
  template <class Indices> struct owned;
  template <std::size_t... I>
  struct owned<std::index_sequence<I...>> : decltype(own_or_nothing<static_cast<int>(I)>())::type... {};
  using memory = owned<std::make_index_sequence<index_of(section.buffers.count)>>;

  /// The first element of a slot.
  template <int Buffer> static PARALLAX_INLINE auto* slot(memory& of) {
    if constexpr (record(Buffer).count.number() == 0) return static_cast<element_of<Buffer>*>(nullptr);
    else return static_cast<own<Buffer>&>(of).values;
  }
};

/// The buffers of a straight program.
template <class Program> struct straight_frame {
  using buffers = straight_buffers<Program, section_id::main>;
  const std::byte* const* values;
  std::byte* const* outputs;
  typename buffers::memory memory;

  template <int Buffer> PARALLAX_INLINE auto* data() {
    using T = typename buffers::template element_of<Buffer>;
    constexpr buffer_record record = buffers::record(Buffer);
    if constexpr (record.kind == buffer_kind::bound)
      return const_cast<T*>(reinterpret_cast<const T*>(values[index_of(record.number)]));
    else if constexpr (record.kind == buffer_kind::output)
      return reinterpret_cast<T*>(outputs[index_of(record.number)]);
    else {
      static_assert(record.kind == buffer_kind::slot);
      return buffers::template slot<Buffer>(memory);
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
