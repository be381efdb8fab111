// A top-level pmap with all pmaps inside it, as one program over a mesh of devices.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/records.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

using spread_dimensions = small_vector<spread_dimension, max_rank>;

struct mapped_section {
  graph_id body = graph_id::none;
  table<mesh_axis, dim> mesh;             ///< the axes' sizes, of the outermost one those of this process
  dim axis_size;                          ///< of all processes along the outermost axis; 0 where nobody asks
  bool is_whole_mesh = false;             ///< whether all devices of all processes make up the mesh
  table<axis_id, mesh_axis> mesh_axis_of; ///< none where it is not mapped here
  growing_vector<spread_dimensions> operands, results;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
