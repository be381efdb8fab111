// The simulated machine's functions, with counts of calls.
#pragma once

#include "support/simulator/api.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <type_traits>

namespace simulated {

namespace plx = parallax;

struct counting_api : simulator::api {
  static inline int captures = 0, graph_launches = 0, launches = 0, copies = 0, updates = 0, slice_copies = 0,
                    allocations = 0;
  static void reset() { captures = graph_launches = launches = copies = updates = slice_copies = allocations = 0; }

  static plx::cuda::status allocate(void*& pointer, std::size_t bytes, stream on) {
    ++allocations;
    return simulator::api::allocate(pointer, bytes, on);
  }

  static plx::cuda::status begin_capture(stream on) {
    ++captures;
    return simulator::api::begin_capture(on);
  }
  static plx::cuda::status launch_graph(graph launched, stream on) {
    ++graph_launches;
    return simulator::api::launch_graph(launched, on);
  }
  template <class... Arguments> static plx::cuda::status copy_to_device(Arguments... arguments) {
    ++copies;
    return simulator::api::copy_to_device(arguments...);
  }
  template <class K>
  static plx::cuda::status launch(K kernel, const plx::cuda::launch_shape& shape, stream on,
                                  const typename K::arguments& arguments) {
    ++launches;
    slice_copies += std::is_same_v<K, plx::cuda::copy_slices> ? 1 : 0;
    return simulator::api::launch(kernel, shape, on, arguments);
  }
  template <class K>
  static plx::cuda::status update_launch(graph of, graph_node node, K kernel, const plx::cuda::launch_shape& shape,
                                         const typename K::arguments& arguments) {
    ++updates;
    return simulator::api::update_launch(of, node, kernel, shape, arguments);
  }
};

} // namespace simulated
