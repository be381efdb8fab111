// Which programs run on several processes.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/processes/world.hpp>
#include <parallax/program/plan.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// The processes that a program runs on together; null if it runs on no devices, or if this process is alone.
inline processes::world* world_of(const compiled::plan_view& plan) {
  processes::world* const all = processes::current_world();
  if (all == nullptr || all->count() == 1) return nullptr;
  for (const compiled::section_record& section : plan.all<compiled::section_record>())
    if (section.mesh.count > 0) return all;
  return nullptr;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
