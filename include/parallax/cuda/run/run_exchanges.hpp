// Running exchanges of which none needs another's result: those that NCCL serves in one group.
#pragma once

#include <parallax/cuda/run/exchange_steps.hpp>

#include <tuple>
#include <vector>

namespace parallax::cuda {

namespace detail {

/// From group_start to group_end, whatever happens in between.
template <device_api Api> class group_scope {
 public:
  group_scope() { check(Api::group_start()); }
  group_scope(const group_scope&) = delete;
  group_scope& operator=(const group_scope&) = delete;
  ~group_scope() {
    // the call that failed is reported; the group's end says the same once more
    if (open) std::ignore = Api::group_end();
  }
  void end() {
    open = false;
    const status ended = Api::group_end();
    if (ended.is != status::kind::not_ready) check(ended);
  }

 private:
  bool open = true;
};

} // namespace detail

/// Enqueues steps of which none needs another's result or memory: those that NCCL serves in one group.
template <device_api Api> void run_exchanges(backend<Api>& owner, std::vector<exchange_runner<Api>>& steps) {
  std::vector<exchange_runner<Api>*> grouped;
  for (auto& each : steps)
    if (!each.run_without_nccl()) grouped.push_back(&each);
  if (grouped.empty()) return;
  for (auto* each : grouped) each->prepare();
  try {
    detail::group_scope<Api> together;
    for (auto* each : grouped) each->enqueue();
    together.end();
  } catch (...) {
    owner.abandon_cliques(); // some members may wait for others that will not come
    throw;
  }
  for (auto* each : grouped) each->wait();
  for (auto* each : grouped) each->finish();
  if (!grouped.front()->is_captured()) owner.recorder.end(grouped.size());
}

} // namespace parallax::cuda
