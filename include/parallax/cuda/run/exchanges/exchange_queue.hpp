// Exchanges of a section that wait for one another until a step needs one of their results. Their buffers are not used
// for anything else before.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/mesh.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/run_exchanges.hpp>

#include <deque>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Memory of one device.
struct memory_range {
  const std::byte* begin;
  std::size_t bytes;

  bool meets(const memory_range& other) const {
    return begin < other.begin + other.bytes && other.begin < begin + bytes;
  }
};

template <device_api Api> class exchange_queue {
 public:
  exchange_queue(backend<Api>& of, const mesh<Api>& devices) : owner(of), all(devices) {}

  /// Adds a step. Its operand's and result's memory is given for one position; all positions have the same layout.
  void add(exchange_runner<Api> step, buffer_id result, memory_range reads, memory_range writes) {
    auto meets = [](const std::vector<memory_range>& ranges, const memory_range& one) {
      return plain::any_of(ranges, [&](const memory_range& other) { return one.meets(other); });
    };
    if (meets(written_ranges, reads) || meets(written_ranges, writes) || meets(read_ranges, writes)) run();
    waiting.push_back(std::move(step));
    results.push_back(result);
    bytes += reads.bytes;
    read_ranges.push_back(reads);
    written_ranges.push_back(writes);
  }

  /// Whether a waiting step writes a buffer.
  bool makes(buffer_id id) const { return plain::contains(results, id); }
  /// Whether the waiting steps are worth streams of their own.
  bool may_start_aside() const { return !waiting.empty() && bytes >= owner.options.overlap_bytes; }

  /// Runs the waiting steps on the side streams, behind all enqueued work.
  void start_aside() {
    aside& group = started.emplace_back();
    group.results = results;
    group.steps = take_waiting();
    const side_streams<Api> here(all.devices);
    run_exchanges<Api>(owner, group.steps);
    for (device<Api>* each : all.devices) {
      each->activate();
      group.done.emplace_back(each->physical);
      check(Api::record_event(group.done.back().event.get(), each->stream()), each->number);
    }
  }

  /// Whether the next use of a buffer has to wait for an exchange.
  bool orders(buffer_id id) const {
    return makes(id) || plain::any_of(started, [&](const aside& each) { return plain::contains(each.results, id); });
  }
  /// Call before a buffer is used.
  void need(buffer_id id) {
    if (makes(id)) run();
    for (std::size_t count = started.size(); count > 0; --count)
      if (plain::contains(started[count - 1].results, id)) return await(count);
  }
  /// Call before all results are used.
  void finish() {
    run();
    await(started.size());
  }

 private:
  backend<Api>& owner;
  const mesh<Api>& all;
  std::vector<exchange_runner<Api>> waiting; ///< steps that may run together
  std::vector<buffer_id> results;            ///< the waiting steps' results
  std::size_t bytes = 0;                     ///< of their operands
  std::vector<memory_range> read_ranges, written_ranges;

  /// Steps on the side streams.
  struct aside {
    std::vector<exchange_runner<Api>> steps;
    std::vector<buffer_id> results;
    std::vector<device_event<Api>> done; ///< by position
  };
  std::deque<aside> started; ///< groups that the first streams do not wait for yet

  void run() {
    if (waiting.empty()) return;
    await(started.size()); // collectives run one after another on each device, in the same order on all
    run_exchanges<Api>(owner, waiting);
    take_waiting();
  }
  std::vector<exchange_runner<Api>> take_waiting() {
    results.clear();
    bytes = 0;
    read_ranges.clear();
    written_ranges.clear();
    return std::exchange(waiting, {});
  }
  /// Makes later work wait for the first `count` groups on the side streams: for the last of them, since they run one
  /// after another.
  void await(std::size_t count) {
    if (count == 0) return;
    for (std::size_t p = 0; p < all.devices.size(); ++p) {
      const device<Api>& each = *all.devices[p];
      each.activate();
      check(Api::wait_event(each.stream(), started[count - 1].done[p].event.get()), each.number);
    }
    for (; count > 0; --count) started.pop_front();
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
