// The devices of one collective, and their communicators where NCCL serves them.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/core/plain_algorithms.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/cuda/devices/device.hpp>

#include <algorithm>
#include <vector>

namespace parallax::cuda {

/// Devices in the order of their ranks. NCCL takes physical devices that are all distinct; otherwise, and for one
/// device alone, collectives are kernels and copies of our own.
template <device_api Api> class clique {
 public:
  std::vector<device<Api>*> members;
  using communicator = typename Api::communicator;
  std::vector<communicator> communicators; ///< by rank; none where NCCL does not serve, null while being split off

  /// Initialisation goes on in the background: wait until `is_ready`.
  explicit clique(plain_span<device<Api>* const> devices) : members(devices.begin(), devices.end()) {
    std::vector<int> physical;
    for (const device<Api>* each : members) physical.push_back(each->physical);
    std::vector<int> sorted = physical;
    std::sort(sorted.begin(), sorted.end());
    if (members.size() < 2 || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return;
    communicators.resize(members.size());
    check(Api::create_clique(communicators, physical));
  }
  /// Part of a clique that NCCL serves, to be split from it.
  clique(plain_span<device<Api>* const> devices, const clique& whole) : members(devices.begin(), devices.end()) {
    if (whole.uses_nccl()) communicators.resize(members.size());
  }
  /// Gives these parts their communicators, in the background: wait until this clique is idle, and then the parts.
  /// Nothing may be going on with this one.
  void split(plain_span<clique* const> parts) {
    left_out.resize(members.size());
    std::vector<communicator*> children;
    for (communicator& each : left_out) children.push_back(&each);
    std::vector<clique_place> places(members.size());
    for (std::size_t part = 0; part < parts.size(); ++part)
      for (std::size_t rank = 0; rank < parts[part]->members.size(); ++rank) {
        const auto at = index_of(plain::find(members, parts[part]->members[rank]) - members.begin());
        children[at] = &parts[part]->communicators[rank];
        places[at] = {static_cast<int>(part), static_cast<int>(rank)};
      }
    check(Api::split_clique(children, communicators, places));
  }
  clique(const clique&) = delete;
  clique& operator=(const clique&) = delete;
  ~clique() {
    for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
      if (communicators[rank] == communicator{}) continue;
      kept_failure::keep(Api::set_device(members[rank]->physical));
      kept_failure::keep(Api::destroy_communicator(communicators[rank]));
    }
  }

  bool uses_nccl() const { return !communicators.empty(); }
  int size() const { return count_of(members); }

  bool is_of(plain_span<device<Api>* const> devices) const { return plain::equal(members, devices); }

  /// Whether nothing is going on in the background. Throws `cuda_error` for an asynchronous error.
  bool is_idle() const {
    for (std::size_t rank = 0; rank < communicators.size(); ++rank)
      if (communicators[rank] == communicator{} ||
          !cuda::is_ready(Api::communicator_state(communicators[rank]), members[rank]->number))
        return false;
    return true;
  }

  /// Aborts the running collective. The clique is unusable afterwards.
  void abort() noexcept {
    for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
      if (communicators[rank] == communicator{}) continue;
      kept_failure::keep(Api::set_device(members[rank]->physical));
      kept_failure::keep(Api::abort_communicator(communicators[rank]));
    }
    communicators.clear();
  }

 private:
  std::vector<communicator> left_out; ///< the places of members that get nothing of a split
};

} // namespace parallax::cuda
