// Running exchanges that do not need each other's results: those that NCCL serves run in one group.
#pragma once

#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/run/exchanges/exchange_steps.hpp>

#include <tuple>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {

/// A group from group_start to group_end, which is called whatever happens in between.
template <device_api Api> class group_scope {
 public:
  group_scope() { check(Api::group_start()); }
  group_scope(const group_scope&) = delete;
  group_scope& operator=(const group_scope&) = delete;
  ~group_scope() {
    // the failed call is reported; the group's end would report it again
    if (open) std::ignore = Api::group_end();
  }
  /// Ends the group. Whether it is over, and does not go on in the background.
  bool end() {
    open = false;
    return is_ready(Api::group_end());
  }

 private:
  bool open = true;
};

/// Waits until a group has reached the devices' streams: before that, nothing else may. Each clique is asked once.
template <device_api Api>
void wait_for_cliques(backend<Api>& owner, const std::vector<exchange_runner<Api>*>& grouped) {
  std::vector<const clique<Api>*> known;
  for (const auto* each : grouped)
    for (const clique<Api>* one : each->cliques_used()) {
      if (plain::contains(known, one)) continue;
      owner.wait_for_clique(*one);
      known.push_back(one);
    }
}

} // namespace detail

/// Enqueues steps that do not need each other's results or memory: those that NCCL serves in one group.
template <device_api Api> void run_exchanges(backend<Api>& owner, std::vector<exchange_runner<Api>>& steps) {
  std::vector<exchange_runner<Api>*> grouped;
  for (auto& each : steps)
    if (!each.run_without_nccl()) grouped.push_back(&each);
  if (grouped.empty()) return;
  for (auto* each : grouped) each->prepare();
  bool is_over = false;
  try {
    detail::group_scope<Api> together;
    for (auto* each : grouped) each->enqueue();
    is_over = together.end();
  } catch (...) {
    owner.abandon_cliques(); // some members may wait for others that will not come
    throw;
  }
  if (!is_over) detail::wait_for_cliques(owner, grouped);
  for (auto* each : grouped) each->finish();
  if (!grouped.front()->is_captured()) owner.recorder.end(grouped.size());
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
