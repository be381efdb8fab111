// How the steps of a section are enqueued: at which positions, and whether they are captured.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/graph_cache.hpp>
#include <parallax/cuda/names.hpp>

#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A section's runner reads its state and never changes it. A loop hands a state to the runners of its bodies; if the
/// host asks devices for a loop's predicate, the loop changes the positions of that state from round to round.
struct run_state {
  bool decides = false;                ///< whether work is captured, and its nodes may be conditional
  captured_exchanges* noted = nullptr; ///< the graph's, if work is captured
  std::vector<bool> going{};           ///< by position: whether it runs the steps; empty if all do

  bool is_captured() const { return noted != nullptr; }
  bool runs_at(int position) const { return going.empty() || going[index_of(position)]; }
  bool runs_everywhere() const {
    return plain::all_of(going, [](bool goes) { return goes; });
  }
  int first_position() const {
    int first = 0;
    while (!runs_at(first)) ++first;
    return first;
  }
  /// The state for steps that run at some positions.
  run_state at(std::vector<bool> running) const { return {decides, noted, std::move(running)}; }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
