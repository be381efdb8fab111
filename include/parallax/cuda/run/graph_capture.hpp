// Capturing the CUDA graphs of a section: their memory, and what is enqueued into them.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/devices/backend.hpp>
#include <parallax/cuda/devices/graph_cache.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/kernels/copies/copy_pieces.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/run_state.hpp>
#include <parallax/cuda/run/graph_copies.hpp>
#include <parallax/cuda/run/section_runner.hpp>
#include <parallax/cuda/run/steps/launchers.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <deque>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {

/// Work enqueued on a device is captured until `end`, or until this is destroyed, which drops it.
template <device_api Api> class capture_scope {
 public:
  explicit capture_scope(device<Api>& of) : on(of) {
    on.activate();
    check(Api::begin_capture(on.stream()), on.number);
    on.is_captured = true;
  }
  capture_scope(const capture_scope&) = delete;
  capture_scope& operator=(const capture_scope&) = delete;
  ~capture_scope() {
    on.is_captured = false;
    if (ended) return;
    typename Api::graph unwanted{};
    if (Api::end_capture(on.stream(), unwanted).ok()) kept_failure::keep(Api::destroy_graph(unwanted));
  }
  typename Api::graph end() {
    ended = true;
    on.is_captured = false;
    typename Api::graph captured{};
    check(Api::end_capture(on.stream(), captured), on.number);
    return captured;
  }

 private:
  device<Api>& on;
  bool ended = false;
};

} // namespace detail

/// Captures a section's graphs, whose memory is laid out: one for each of its devices, by position.
template <device_api Api> class graph_capture {
  using graph = section_graph<Api>;

 public:
  graph_capture(backend<Api>& of, const section_plan& run, const mesh<Api>& on, plain_span<graph* const> by_position)
      : owner(of), section(run), all(on), devices(on.devices), graphs(by_position) {}

  /// Captures the graphs; false if they cannot be captured. If processes share them, NCCL needs all to capture alike: a
  /// failure is thrown then.
  bool run(const program_launchers<Api>& kernels) {
    for (graph* each : graphs) forget(*each);
    try {
      // with several devices there are no exchanges
      const run_state captured{owner.options.conditional_graphs, &graphs.front()->exchanges, {}};
      section_runner<Api> runner(owner, section, kernels, all, captured,
                                 [](std::size_t, int) { return static_cast<std::byte*>(nullptr); });
      make_ready(runner);
      try {
        capture(runner);
        return true;
      } catch (const cuda_error&) {
        if (all.whole() != nullptr) throw;
      }
    } catch (...) {
      for (graph* each : graphs) forget(*each);
      throw;
    }
    return false;
  }

 private:
  backend<Api>& owner;
  const section_plan& section;
  const mesh<Api>& all;
  plain_span<device<Api>* const> devices;
  plain_span<graph* const> graphs;

  /// Allocates the graphs' memory, and does work that should not be captured.
  void make_ready(section_runner<Api>& runner) {
    for (std::size_t p = 0; p < devices.size(); ++p) {
      devices[p]->graphs.make_room(graphs[p]->memory_bytes, owner.options.graph_memory);
      graphs[p]->memory = allocate<Api>(*devices[p], graphs[p]->memory_bytes);
      set_addresses(runner, *graphs[p], static_cast<int>(p));
      runner.write_addresses_of_matrices(static_cast<int>(p)); // they stay the same from launch to launch
      devices[p]->expect_bodies(graphs[p]->depth_of_bodies);
      // copies nothing, but loads the kernel
      devices[p]->activate();
      check(Api::launch(copy_pieces{}, {1, detail::elementwise_threads}, devices[p]->stream(), {}), devices[p]->number);
    }
  }
  void capture(section_runner<Api>& runner) {
    std::deque<detail::capture_scope<Api>> captures;
    for (std::size_t p = 0; p < devices.size(); ++p) {
      captures.emplace_back(*devices[p]);
      capture_copies_in(*graphs[p], *devices[p]);
    }
    runner.run([](const mapped_section_step&, section_runner<Api>&) {});
    for (std::size_t p = 0; p < devices.size(); ++p) {
      capture_copies_out(*graphs[p], *devices[p]);
      graphs[p]->graph.emplace(captures[p].end());
    }
    for (std::size_t p = 0; p < devices.size(); ++p) {
      devices[p]->activate();
      graphs[p]->graph->instantiate(devices[p]->number);
    }
  }
  static void forget(graph& g) {
    g.graph.reset();
    g.memory = {};
    g.updates.clear();
    g.exchanges = {};
  }

  /// Sets the addresses of the section's buffers for the capture.
  static void set_addresses(section_runner<Api>& runner, const graph& g, int position) {
    std::byte* const memory = address_of<Api>(g.memory);
    for (const auto& a : g.arguments) runner.set_address(a.buffer, position, memory + a.offset);
    for (const auto& r : g.results) runner.set_address(r.buffer, position, memory + r.offset);
    for (const auto& own : g.places)
      runner.set_address(own.buffer, position, const_cast<std::byte*>(g.addresses[own.number]));
    runner.memory_of_bodies.push_back(memory + g.bodies);
    runner.set_addresses_of_matrices(position, memory + g.matrices);
    int next = 0;
    for (const buffer_record& each : runner.section.buffers()) {
      const buffer_id buffer{next++};
      if (each.kind == buffer_kind::slot)
        runner.set_address(buffer, position, memory + g.slots + section_plan::place_of(each, g.slot_offsets));
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
