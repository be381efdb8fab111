// The devices of one collective, and their communicators where NCCL serves them.
#pragma once

#include <parallax/cuda/device.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace parallax::cuda {

/// Devices in the order of their ranks. NCCL takes physical devices that are all distinct; otherwise, and for one
/// device alone, collectives are kernels and copies of our own.
template <device_api Api> class clique {
 public:
  std::vector<device<Api>*> members;
  std::vector<typename Api::communicator> communicators; ///< by rank; none where NCCL does not serve

  /// Initialisation goes on in the background: wait until `is_ready`.
  explicit clique(std::span<device<Api>* const> devices) : members(devices.begin(), devices.end()) {
    std::vector<int> physical;
    for (const device<Api>* each : members) physical.push_back(each->physical);
    std::vector<int> sorted = physical;
    std::ranges::sort(sorted);
    if (members.size() < 2 || std::ranges::adjacent_find(sorted) != sorted.end()) return;
    communicators.resize(members.size());
    check(Api::create_clique(communicators, physical));
  }
  clique(const clique&) = delete;
  clique& operator=(const clique&) = delete;
  ~clique() {
    for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
      kept_failure::keep(Api::set_device(members[rank]->physical));
      kept_failure::keep(Api::destroy_communicator(communicators[rank]));
    }
  }

  bool uses_nccl() const { return !communicators.empty(); }
  int size() const { return static_cast<int>(members.size()); }

  bool is_of(std::span<device<Api>* const> devices) const { return std::ranges::equal(members, devices); }

  /// Whether nothing is going on in the background. Throws `cuda_error` for an asynchronous error.
  bool is_idle() const {
    for (std::size_t rank = 0; rank < communicators.size(); ++rank)
      if (!cuda::is_ready(Api::communicator_state(communicators[rank]), members[rank]->number)) return false;
    return true;
  }

  /// Ends what is going on, which never will by itself. The clique is of no use afterwards.
  void abort() noexcept {
    for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
      kept_failure::keep(Api::set_device(members[rank]->physical));
      kept_failure::keep(Api::abort_communicator(communicators[rank]));
    }
    communicators.clear();
  }
};

} // namespace parallax::cuda
