// A top-level pmap with all pmaps inside it, as one program over a mesh of devices.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/section_records.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

using spread_dimensions = small_vector<spread_dimension, max_rank>;

struct mapped_section {
  graph_id body = graph_id::none;
  table<mesh_axis, dim> mesh;             ///< sizes of the axes; of the outermost one, its part on this process
  dim axis_size;                          ///< size of the outermost axis on all processes; 0 if nothing asks for it
  bool is_whole_mesh = false;             ///< whether all devices of all processes make up the mesh
  table<axis_id, mesh_axis> mesh_axis_of; ///< `none` for axes that are not mapped here
  growing_vector<spread_dimensions> operands, results;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
