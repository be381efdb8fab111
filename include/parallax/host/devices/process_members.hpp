// The members of a collective in this process, as seen by the one that speaks to other processes.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/rendezvous.hpp>
#include <parallax/processes/mail.hpp>
#include <parallax/processes/process_mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// An exchange between devices, in whichever processes they are.
struct exchange_request {
  exchange_kind kind = exchange_kind::all_reduce;
  reduction_kind reduction = reduction_kind::sum;
  element_type type = element_type::float32;
  std::size_t outer = 1, inner_bytes = 0; ///< of a member's part of the array that is gathered, scattered or exchanged
  std::size_t bytes = 0;                  ///< of an operand
  int source_index = 0;                   ///< of a broadcast, in its part
};

/// The members of a group, or of a part of it, that have met in this process.
class process_members {
 public:
  process_members(const rendezvous& of_process, const processes::process_group& members, const exchange_request& what,
                  processes::world& processes, const processes::occasion& which)
      : here(of_process), group(members), request(what), all(processes), when(which) {}

 protected:
  using share = processes::process_group::share;

  const rendezvous& here;
  const processes::process_group& group;
  const exchange_request& request;

  /// The messages of a step of this exchange.
  processes::mail mail(std::uint64_t step = 0) const {
    processes::occasion which = when;
    which.step = step;
    return {all, which};
  }
  const std::byte* input(int slot) const { return here.input(group.local_index(slot)); }
  std::byte* output(int slot) const { return here.output(group.local_index(slot)); }

  std::size_t process_count() const { return group.of_processes().size(); }
  std::size_t own_place() const { return index_of(group.own_place()); }
  /// Calls `f(place, share)` with the other processes that have members.
  template <class F> void for_each_other(const F& f) const {
    for (std::size_t place = 0; place < process_count(); ++place)
      if (place != own_place()) f(place, group.of_processes()[place]);
  }
  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

 private:
  processes::world& all;
  processes::occasion when;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
