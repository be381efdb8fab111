// What an exchange works on: the devices of a mesh, and the operand and the result of each.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/device.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `sources` and `results` are the operand's and the result's first bytes, by position.
template <device_api Api> struct exchange_operands {
  const mesh<Api>& all;
  const plan_view& plan;
  const exchange_step& step;
  exchange_partners partners;
  element_type type;
  std::size_t bytes;
  const std::vector<std::byte*>& sources;
  const std::vector<std::byte*>& results;
  std::size_t outer, inner, inner_bytes;

  exchange_operands(const mesh<Api>& devices, const section_plan& section, const exchange_step& what,
                    const std::vector<std::byte*>& from, const std::vector<std::byte*>& to)
      : all(devices),
        plan(section.plan),
        step(what),
        partners(section.plan, what),
        type(section.type_of(what.source)),
        bytes(section.bytes_of(what.source)),
        sources(from),
        results(to),
        outer(index_of(section.extents[what.outer])),
        inner(index_of(section.extents[what.inner])),
        inner_bytes(inner * size_of(type)) {}

  device<Api>& device_at(int position) const { return *all.devices[index_of(position)]; }
  std::byte* source(int position) const { return sources[index_of(position)]; }
  std::byte* result(int position) const { return results[index_of(position)]; }
  /// Copies on the device of a position: from the `index`-th of `count` slices of each row to contiguous rows, or back.
  void take_slice(int position, std::byte* to, const std::byte* from, std::size_t index, std::size_t count) {
    device_at(position).copy_rows(to, inner_bytes, from + index * inner_bytes, count * inner_bytes, inner_bytes, outer);
  }
  void put_slice(int position, std::byte* to, const std::byte* from, std::size_t index, std::size_t count) {
    device_at(position).copy_rows(to + index * inner_bytes, count * inner_bytes, from, inner_bytes, inner_bytes, outer);
  }
  void fill_zero(int position) { device_at(position).fill_zero(result(position), bytes); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
