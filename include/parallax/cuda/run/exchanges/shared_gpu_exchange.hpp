// An exchange between logical devices that share a GPU: by kernels and copies of our own.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/kernels/copies/exchange.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/exchange_operands.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <device_api Api> class shared_gpu_exchange : exchange_operands<Api> {
 public:
  explicit shared_gpu_exchange(const exchange_operands<Api>& what) : exchange_operands<Api>(what) {}

  /// Enqueues the exchange of a group, given by the places of its members.
  void run(std::vector<int> group) {
    if (bytes == 0) return;
    for (int& each : group) each = all.position_of(each);
    meet(group);
    if (step.kind == exchange_kind::all_reduce && lies_in_place(group)) reduce_parts(group);
    else
      for (std::size_t rank = 0; rank < group.size(); ++rank) run_member(group, rank);
    meet(group); // before any member changes memory that others read
  }

 private:
  using operands = exchange_operands<Api>;
  using operands::all, operands::step, operands::partners, operands::type, operands::bytes;
  using operands::device_at, operands::source, operands::result, operands::put_slice, operands::fill_zero;
  using operands::outer, operands::inner, operands::inner_bytes;

  /// Makes later work of every member wait for the work that all members have enqueued.
  void meet(const std::vector<int>& group) {
    device<Api>& first = device_at(group[0]);
    for (int position : group) first.wait_for(device_at(position));
    for (int position : group) device_at(position).wait_for(first);
  }

  bool lies_in_place(const std::vector<int>& group) const {
    return plain::any_of(group, [&](int position) { return result(position) == source(position); });
  }
  /// Each member combines a part of all operands, which no other member reads, into its own result; then all copy the
  /// others' parts from there. So a result may lie in an operand's memory.
  void reduce_parts(const std::vector<int>& group) {
    const std::size_t element = size_of(type), line = 64;
    const std::size_t most = (bytes / element / group.size() / line + 1) * line * element;
    const auto begin_of = [&](std::size_t rank) { return std::min(bytes, rank * most); };
    const auto size_at = [&](std::size_t rank) { return begin_of(rank + 1) - begin_of(rank); };
    for (std::size_t rank = 0; size_at(rank) > 0; ++rank) {
      device<Api>& on = device_at(group[rank]);
      on.activate();
      const combined_slices part{1, 1, static_cast<std::int64_t>(size_at(rank) / element), 0};
      check(launch_combine<launches_of<Api>>(on.context(), step.reduction, type, inputs_of(group, begin_of(rank)),
                                             result(group[rank]) + begin_of(rank), part),
            on.number);
    }
    meet(group);
    for (const int position : group) {
      device<Api>& on = device_at(position);
      on.activate();
      for (std::size_t rank = 0; size_at(rank) > 0; ++rank) {
        if (group[rank] == position) continue;
        const std::byte* const part = result(group[rank]) + begin_of(rank);
        check(Api::copy_between(result(position) + begin_of(rank), on.physical, part, device_at(group[rank]).physical,
                                size_at(rank), on.stream()),
              on.number);
      }
    }
  }

  void run_member(const std::vector<int>& group, std::size_t rank) {
    const int position = group[rank];
    device<Api>& on = device_at(position);
    on.activate();
    auto copy = [&](std::byte* to, int from_position, const std::byte* from, std::size_t size) {
      check(Api::copy_between(to, on.physical, from, device_at(from_position).physical, size, on.stream()), on.number);
    };
    switch (step.kind) {
    case exchange_kind::all_reduce: {
      const combined_slices whole{1, 1, static_cast<std::int64_t>(bytes / size_of(type)), 0};
      return check(launch_combine<launches_of<Api>>(on.context(), step.reduction, type, inputs_of(group),
                                                    result(position), whole),
                   on.number);
    }
    case exchange_kind::reduce_scatter: {
      const combined_slices own{static_cast<std::int64_t>(outer), std::ssize(group), static_cast<std::int64_t>(inner),
                                static_cast<std::int64_t>(rank)};
      return check(launch_combine<launches_of<Api>>(on.context(), reduction_kind::sum, type, inputs_of(group),
                                                    result(position), own),
                   on.number);
    }
    case exchange_kind::all_gather: {
      buffer piece = outer == 1 ? buffer{} : allocate<Api>(on, bytes);
      for (std::size_t k = 0; k < group.size(); ++k) {
        if (outer == 1) {
          copy(result(position) + k * bytes, group[k], source(group[k]), bytes);
        } else {
          copy(address_of<Api>(piece), group[k], source(group[k]), bytes);
          put_slice(position, result(position), address_of<Api>(piece), k, group.size());
        }
      }
      return;
    }
    case exchange_kind::all_to_all:
      for (std::size_t k = 0; k < group.size(); ++k)
        copy(result(position) + k * inner_bytes, group[k], source(group[k]) + rank * inner_bytes, inner_bytes);
      return;
    case exchange_kind::broadcast: {
      const int from = group[index_of(step.source_index)];
      return copy(result(position), from, source(from), bytes);
    }
    case exchange_kind::permute: {
      const int sender = partners.source_of(static_cast<int>(rank), count_of(group));
      if (sender < 0) return fill_zero(position);
      const int from = group[index_of(sender)];
      copy(result(position), from, source(from), bytes);
    }
    }
  }
  std::vector<const void*> inputs_of(const std::vector<int>& group, std::size_t begin = 0) const {
    std::vector<const void*> inputs;
    for (int position : group) inputs.push_back(source(position) + begin);
    return inputs;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
