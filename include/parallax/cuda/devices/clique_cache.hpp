// The cliques of the backend's devices, which are made at their first use and kept.
#pragma once

#include <parallax/arrays/memory/block_cache.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/clique.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/processes/gather_bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <device_api Api> class clique_cache {
 public:
  using group_list = std::vector<std::vector<int>>; ///< places of a mesh, by group and rank

  /// Cliques of groups of a mesh, by group: null for a group without members here. If NCCL serves all devices together,
  /// they are split from the clique of all, which costs less than to make them anew. `crosses`: groups have members in
  /// other processes, which all ask for the same groups then. `wait_for(clique)` returns once a clique is idle, and
  /// `wait_for_all()` once all devices are. If this throws, call `abandon`.
  template <class WaitFor, class WaitForAll>
  std::vector<clique<Api>*> of(const mesh<Api>& all, bool crosses, const group_list& groups, const WaitFor& wait_for,
                               const WaitForAll& wait_for_all) {
    whole_clique& whole = whole_of(all, crosses, wait_for, wait_for_all);
    for (const division& known : whole.divisions)
      if (known.groups == groups) return known.parts;
    division made{groups, {}};
    std::vector<typename clique<Api>::part> parts;
    bool is_split = false;
    for (const std::vector<int>& group : groups) {
      const auto [devices, ranks] = own_of(all, group);
      clique<Api>*& found = made.parts.emplace_back(nullptr);
      if (is_in_order(all, crosses, group)) {
        found = whole.all;
      } else if (!whole.all->uses_nccl()) {
        found = &alone(devices, wait_for, wait_for_all);
      } else {
        // a clique that is known here may be new to another process, so that all are split again
        if (!crosses) found = known_part(whole, group);
        if (found != nullptr) continue;
        is_split = true;
        if (devices.empty()) continue;
        cliques.push_back(std::make_unique<clique<Api>>(devices, ranks, count_of(group), *whole.all));
        found = cliques.back().get();
        parts.push_back({static_cast<int>(made.parts.size()) - 1, found});
      }
    }
    if (is_split) {
      if (crosses) all.whole()->of().next_shared_exchange();
      make_room(all.devices, wait_for_all); // NCCL also needs a communicator without outstanding work for a split
      whole.all->split(parts);
      wait_for(*whole.all);
      for (const auto& part : parts) wait_for(*part.of);
    }
    whole.divisions.push_back(std::move(made));
    return whole.divisions.back().parts;
  }

  /// Calls `f` with each clique.
  template <class F> void for_each(const F& f) const {
    for (const auto& each : cliques) f(*each);
  }

  /// Forgets the communicators, which are idle.
  void forget() {
    wholes.clear();
    cliques.clear();
  }
  /// Aborts all collectives, which will not end by themselves, and forgets the communicators.
  void abandon() noexcept {
    std::vector<typename Api::communicator> all;
    do { // communicators of a split that is going on are known only after its abort
      all.clear();
      for (const auto& each : cliques) each->give_up(all);
      if (!all.empty()) kept_failure::keep(Api::abort_communicators(all));
    } while (!all.empty());
    forget();
  }

 private:
  struct division {
    group_list groups;
    std::vector<clique<Api>*> parts;
  };
  /// The clique of a mesh's devices.
  struct whole_clique {
    std::vector<device<Api>*> devices;
    int first;                        ///< place
    std::vector<std::int64_t> starts; ///< first places of the processes; empty if the clique is this process' alone
    clique<Api>* all;
    std::vector<division> divisions{};
  };
  std::vector<std::unique_ptr<clique<Api>>> cliques;
  std::vector<std::unique_ptr<whole_clique>> wholes;

  static std::pair<std::vector<device<Api>*>, std::vector<int>> own_of(const mesh<Api>& all,
                                                                       const std::vector<int>& group) {
    std::pair<std::vector<device<Api>*>, std::vector<int>> own;
    for (std::size_t rank = 0; rank < group.size(); ++rank)
      if (const int position = all.position_of(group[rank]); position >= 0) {
        own.first.push_back(all.devices[index_of(position)]);
        own.second.push_back(static_cast<int>(rank));
      }
    return own;
  }
  /// Whether a group is the whole mesh, in the order of places.
  static bool is_in_order(const mesh<Api>& all, bool crosses, const std::vector<int>& group) {
    const int first = crosses ? 0 : all.place_of(0), count = crosses ? all.place_count() : all.size();
    if (count_of(group) != count) return false;
    for (int rank = 0; rank < count; ++rank)
      if (group[index_of(rank)] != first + rank) return false;
    return true;
  }

  /// Frees memory for NCCL, which takes its own and cannot use memory that is kept here for later, or for copies of the
  /// host's memory. First waits for the devices: memory whose release the host has not seen yet would stay.
  template <class WaitForAll>
  static void make_room(plain_span<device<Api>* const> devices, const WaitForAll& wait_for_all) {
    wait_for_all();
    for (const device<Api>* each : devices) {
      each->activate();
      check(Api::trim_memory(), each->number);
      std::size_t free = 0, total = 0;
      check(Api::memory_info(free, total), each->number);
      if (free >= total / 8 || !runtime::block_cache::forget_kept_copies()) continue;
      wait_for_all();
      each->activate(); // copies may have been on other devices
      check(Api::trim_memory(), each->number);
    }
  }

  template <class WaitFor, class WaitForAll>
  clique<Api>& alone(plain_span<device<Api>* const> devices, const WaitFor& wait_for, const WaitForAll& wait_for_all) {
    for (const auto& known : cliques)
      if (known->is_of(devices)) return *known;
    make_room(devices, wait_for_all);
    cliques.push_back(std::make_unique<clique<Api>>(devices));
    wait_for(*cliques.back());
    return *cliques.back();
  }
  template <class WaitFor, class WaitForAll>
  whole_clique& whole_of(const mesh<Api>& all, bool crosses, const WaitFor& wait_for, const WaitForAll& wait_for_all) {
    std::vector<std::int64_t> starts;
    if (crosses) starts = all.whole()->starts();
    for (const auto& known : wholes)
      if (known->devices == all.devices && known->first == all.place_of(0) && known->starts == starts) return *known;
    clique<Api>* made = crosses ? &joined(all, wait_for, wait_for_all) : &alone(all.devices, wait_for, wait_for_all);
    wholes.push_back(
        std::make_unique<whole_clique>(whole_clique{all.devices, all.place_of(0), std::move(starts), made}));
    return *wholes.back();
  }
  /// The clique of all processes' devices. Process 0 sends its id to the others.
  template <class WaitFor, class WaitForAll>
  clique<Api>& joined(const mesh<Api>& all, const WaitFor& wait_for, const WaitForAll& wait_for_all) {
    processes::world& together = all.whole()->of();
    typename Api::clique_id id{};
    if (together.index() == 0) check(Api::create_clique_id(id));
    processes::byte_writer own;
    if (together.index() == 0) own.put(id);
    const auto said =
        processes::gather_bytes(together, processes::gathering::clique, "the meeting of NCCL's members", own.bytes);
    id = processes::byte_reader(said[0].data(), said[0].size()).template take<typename Api::clique_id>();
    together.next_shared_exchange();
    make_room(all.devices, wait_for_all);
    std::vector<int> ranks;
    for (int position = 0; position < all.size(); ++position) ranks.push_back(all.place_of(position));
    cliques.push_back(std::make_unique<clique<Api>>(all.devices, std::move(ranks), all.place_count(), id));
    wait_for(*cliques.back());
    return *cliques.back();
  }
  static clique<Api>* known_part(const whole_clique& whole, const std::vector<int>& group) {
    for (const division& each : whole.divisions)
      for (std::size_t k = 0; k < each.groups.size(); ++k)
        if (each.groups[k] == group) return each.parts[k];
    return nullptr;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
