// The memory of a section's outputs on a device.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Whether memory on this device is lent for a result.
template <device_api Api> bool is_given_on(const device<Api>& on, given_memory given, std::size_t number) {
  if (given.empty()) return false;
  const allocation<Api>* const memory = allocation_of<Api>(given[number].on_device);
  return memory != nullptr && &memory->home == &on;
}

/// Allocates memory on a device for a section's outputs that have none yet, and that no memory there is lent for.
template <device_api Api>
void take_outputs(const section_plan& section, device<Api>& on, given_memory given, recycled_vector<buffer>& outputs) {
  outputs.resize(section.outputs().size());
  result_block<Api> memory(on);
  for (const buffer_record& each : section.buffers()) {
    if (each.kind != buffer_kind::output) continue;
    buffer& own = outputs[index_of(each.number)];
    if (is_given_on(on, given, index_of(each.number))) own = given[index_of(each.number)].on_device;
    else if (own.is_null()) memory.expect(section.bytes_of(each));
  }
  for (const buffer_record& each : section.buffers())
    if (each.kind == buffer_kind::output && outputs[index_of(each.number)].is_null())
      outputs[index_of(each.number)] = memory.take(section.bytes_of(each));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
