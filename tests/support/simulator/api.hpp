// The policy that the CUDA backend's orchestration runs on in tests: many devices on the host.
#pragma once

#include "support/simulator/collective_functions.hpp"

#include <parallax/cuda/api/api.hpp>

namespace simulator {

/// Acts on the machine that lives (support/simulator/machine.hpp).
struct api : collective_functions {
  using stream = stream_handle;
  using event = event_handle;
  using graph = graph_handle;
  using graph_node = graph_node_handle;
  using communicator = communicator_handle;
  using clique_id = clique_name;
};

static_assert(parallax::cuda::device_api<api>);

} // namespace simulator
