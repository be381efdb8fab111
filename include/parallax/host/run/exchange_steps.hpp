// The steps of a section that exchange values between its devices, of this process or of several.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/collectives.hpp>
#include <parallax/host/devices/process_exchange.hpp>
#include <parallax/host/devices/team.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

inline void run_between_processes(const section_plan& section, const exchange_step& step, team& all, int position,
                                  const std::byte* from, std::byte* to) {
  const unsigned axes = step.axes.bits;
  exchange_request request{.kind = step.kind, .reduction = step.reduction, .type = section.type_of(step.source)};
  request.outer = index_of(section.extents[step.outer]);
  request.inner_bytes = index_of(section.extents[step.inner]) * size_of(request.type);
  request.bytes = section.bytes_of(step.source);
  request.source_index = step.source_index;
  const exchange_partners partners(section.plan, step);
  recycled_vector<plain_span<const int>> parts;
  for (const group_record& group : section.plan[step.groups]) parts.push_back(section.plan[group.members]);
  exchange_between_processes(all, position, axes, request, parts, from, to,
                             [&](int index) { return partners.source_of(index, all.whole_group_size(axes)); });
}

} // namespace detail

/// Carries out a device's part of an exchange. `from` and `to` are the first bytes of the device's operand and result.
inline void run_exchange(const section_plan& section, const exchange_step& step, team& all, int position,
                         std::byte* from, std::byte* to) {
  const element_type type = section.type_of(step.source);
  const std::size_t bytes = section.bytes_of(step.source);
  const auto outer = index_of(section.extents[step.outer]), inner = index_of(section.extents[step.inner]);
  const unsigned axes = step.axes.bits;
  if (!step.is_of_process && all.spans_processes(axes))
    return detail::run_between_processes(section, step, all, position, from, to);
  const int index = all.axis_index(position, axes);
  const exchange_partners partners(section.plan, step);
  const group_member who{all, position, {axes, partners.group_of(index)}};
  switch (step.kind) {
  case exchange_kind::all_reduce: return all_reduce(who, step.reduction, type, from, to, bytes / size_of(type));
  case exchange_kind::all_gather: return all_gather(who, from, to, outer, inner * size_of(type));
  case exchange_kind::reduce_scatter: return reduce_scatter(who, reduction_kind::sum, type, from, to, outer, inner);
  case exchange_kind::all_to_all: return all_to_all(who, from, to, inner * size_of(type));
  case exchange_kind::broadcast: return broadcast(who, step.source_index, from, to, bytes);
  case exchange_kind::permute: return permute(who, partners.source_of(index, all.group_size(axes)), from, to, bytes);
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
