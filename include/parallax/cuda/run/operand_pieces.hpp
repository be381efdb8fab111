// The operands of a section on devices: a piece for each position of its mesh.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/small_values.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/argument_locations.hpp>
#include <parallax/cuda/run/section_runner.hpp>
#include <parallax/cuda/run/whole_and_piece.hpp>
#include <parallax/runtime/section_call.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// An operand's pieces by position, on their devices, or all on the host if they are small.
struct operand_pieces {
  recycled_vector<buffer> pieces;
  bool on_host = false;
  std::size_t small_number = 0; ///< among each device's small values
};

namespace detail {

/// The pieces of a value that the host has.
template <device_api Api>
operand_pieces pieces_of_host(runtime_value& value, const section_call& section, const section_operand& wanted,
                              const std::vector<device<Api>*>& devices, std::size_t bytes) {
  value.host_data();
  operand_pieces made{{}, small_values<Api>::takes(wanted.piece_bytes(bytes))};
  for (std::size_t p = 0; p < devices.size(); ++p) {
    const auto place = section.place_of(p);
    if (const auto part = wanted.part_of(value.host.data(), bytes, place); part && !made.on_host) {
      made.pieces.push_back(uploaded<Api>(*devices[p], value.host, *part));
      continue;
    }
    buffer piece = value.host;
    if (!wanted.spread.empty()) piece = wanted.piece_of(value.host.data(), bytes, place);
    made.pieces.push_back(made.on_host ? piece : upload<Api>(*devices[p], piece.data(), piece.bytes()));
  }
  return made;
}

/// The pieces of what lies on device `home` from `whole` on.
template <device_api Api>
operand_pieces pieces_of_device(device<Api>& home, std::byte* whole, const section_call& section,
                                const section_operand& wanted, const std::vector<device<Api>*>& devices,
                                std::size_t bytes) {
  recycled_vector<buffer> pieces;
  for (std::size_t p = 0; p < devices.size(); ++p) {
    if (wanted.spread.empty()) {
      pieces.push_back(allocate<Api>(*devices[p], bytes));
      copy_across<Api>(*devices[p], address_of<Api>(pieces.back()), home, whole, bytes);
      continue;
    }
    buffer piece = allocate<Api>(home, wanted.piece_bytes(bytes));
    if (piece.bytes() > 0) {
      copy_piece<direction::out_of_whole>(home, wanted.spread, section.place_of(p), bytes, whole,
                                          address_of<Api>(piece));
      if (devices[p] != &home) piece = moved(*devices[p], piece);
    }
    pieces.push_back(std::move(piece));
  }
  return {std::move(pieces)};
}

} // namespace detail

/// An operand's pieces: left where they lie if that is where they are wanted, otherwise copied there, unless they are
/// small.
template <device_api Api>
operand_pieces pieces_of(argument_locations<Api>& arguments, section_runner<Api>& caller, const section_call& section,
                         const section_operand& wanted, const std::vector<device<Api>*>& devices) {
  const buffer_record& source = caller.section.buffer_at(wanted.source);
  const std::size_t bytes = caller.section.bytes_of(source);
  if (source.kind == buffer_kind::bound) {
    runtime_value& value = arguments.values[index_of(source.number)];
    const bool lies_here = argument_locations<Api>::lies_here(value.pieces);
    if (section.in_place(value, wanted) && lies_here) return {value.pieces};
    const bool on_host = value.on_host && allocation_of<Api>(value.host) == nullptr;
    if (on_host || (!value.on_host && !lies_here))
      return detail::pieces_of_host(value, section, wanted, devices, bytes);
  }
  return detail::pieces_of_device(arguments.home(), caller.data(wanted.source, 0), section, wanted, devices, bytes);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
