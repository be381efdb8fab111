// The devices of one collective, and their communicators if NCCL serves them.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/device.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Devices in the order of their ranks; other processes may have some of them. NCCL needs distinct physical devices;
/// otherwise, and for one device alone, collectives are kernels and copies of our own.
template <device_api Api> class clique {
 public:
  using communicator = typename Api::communicator;
  std::vector<device<Api>*> members;       ///< of this process
  std::vector<int> ranks;                  ///< the members' ranks
  std::vector<communicator> communicators; ///< the members'; empty if NCCL does not serve them, null during a split

  /// A clique of this process alone. Initialisation goes on in the background: wait until `is_idle`.
  explicit clique(plain_span<device<Api>* const> devices)
      : members(devices.begin(), devices.end()), ranks(members.size()), all(count_of(members)) {
    std::iota(ranks.begin(), ranks.end(), 0);
    if (members.size() < 2 || !are_distinct()) return;
    communicators.resize(members.size());
    check(Api::create_clique(communicators, physical_devices()));
  }
  /// A clique with members of other processes, which all pass the same id. Initialisation goes on in the background.
  clique(plain_span<device<Api>* const> devices, std::vector<int> own_ranks, int size,
         const typename Api::clique_id& id)
      : members(devices.begin(), devices.end()), ranks(std::move(own_ranks)), all(size) {
    if (!are_distinct())
      throw error("a pmap over several processes needs a GPU for each of its devices, and some of this process share "
                  "one: leave PARALLAX_CUDA_DEVICES_PER_GPU at 1");
    communicators.resize(members.size());
    check(Api::join_clique(communicators, physical_devices(), ranks, all, id));
  }
  /// A part of a clique, to be split from it if NCCL serves the whole.
  clique(plain_span<device<Api>* const> devices, std::vector<int> own_ranks, int size, const clique& whole)
      : members(devices.begin(), devices.end()), ranks(std::move(own_ranks)), all(size) {
    if (whole.uses_nccl()) communicators.resize(members.size());
  }

  /// A part of a split, with the number by which all processes know it.
  struct part {
    int number;
    clique* of;
  };
  /// Gives these parts their communicators, in the background: wait until this clique is idle, and then for the parts.
  /// This clique has to be idle before. If processes share it, all of them call this for the same split.
  void split(plain_span<const part> parts) {
    left_out.resize(members.size());
    std::vector<communicator*> children;
    for (communicator& each : left_out) children.push_back(&each);
    std::vector<clique_place> places(members.size());
    for (const auto& [number, of] : parts)
      for (std::size_t k = 0; k < of->members.size(); ++k) {
        const auto at = index_of(plain::find(members, of->members[k]) - members.begin());
        children[at] = &of->communicators[k];
        places[at] = {number, of->ranks[k]};
      }
    check(Api::split_clique(children, communicators, places));
  }
  clique(const clique&) = delete;
  clique& operator=(const clique&) = delete;
  ~clique() {
    for (std::size_t k = 0; k < communicators.size(); ++k) {
      if (communicators[k] == communicator{}) continue;
      kept_failure::keep(Api::set_device(members[k]->physical));
      kept_failure::keep(Api::destroy_communicator(communicators[k]));
    }
  }

  bool uses_nccl() const { return !communicators.empty(); }
  /// The number of members in all processes, and whether there are several processes.
  int size() const { return all; }
  bool is_shared() const { return all != count_of(members); }

  /// Whether the clique belongs to this process alone, and has these devices.
  bool is_of(plain_span<device<Api>* const> devices) const { return !is_shared() && plain::equal(members, devices); }

  /// Whether no work goes on in the background. Throws `cuda_error` for an asynchronous error. `known` marks members
  /// that were found idle since the last work began: they are not asked again. It is empty at first.
  bool is_idle(std::vector<bool>& known) const {
    known.resize(communicators.size());
    for (std::size_t k = 0; k < communicators.size(); ++k) // all others, since any may be the one that has failed
      if (!known[k] && communicators[k] != communicator{})
        known[k] = cuda::is_ready(Api::communicator_state(communicators[k]), members[k]->number);
    return plain::all_of(known, [](bool idle) { return idle; });
  }
  bool is_idle() const {
    std::vector<bool> none;
    return is_idle(none);
  }

  /// Moves all communicators so far to `to`, to be aborted. The clique is unusable afterwards.
  void give_up(std::vector<communicator>& to) noexcept {
    for (communicator& each : communicators)
      if (each != communicator{}) to.push_back(std::exchange(each, communicator{}));
  }

 private:
  int all;
  std::vector<communicator> left_out; ///< for members that are in no part of a split

  std::vector<int> physical_devices() const {
    std::vector<int> physical;
    for (const device<Api>* each : members) physical.push_back(each->physical);
    return physical;
  }
  bool are_distinct() const {
    std::vector<int> sorted = physical_devices();
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
