// Runs the operations of all streams, in any order that streams, events and collectives allow; the seed chooses.
#pragma once

#include "support/simulator/random.hpp"
#include "support/simulator/recorder.hpp"
#include "support/simulator/shared_steps.hpp"
#include "support/simulator/stream.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace simulator {

class scheduler {
 public:
  scheduler(memory& table, const peer_table& peers, generator& random)
      : table_(&table), peers_(&peers), random_(&random), prefers_(random.chance(1, 2)) {
    static constexpr std::uint64_t eagerness[] = {0, 1, 4, 9};
    eagerness_ = eagerness[random.below(std::size(eagerness))];
  }

  stream_state& create(std::uint64_t handle, int device) {
    auto made = std::make_unique<stream_state>();
    made->handle = handle;
    made->device = device;
    made->index = created_++;
    made->priority = random_->bits();
    streams_.push_back(std::move(made));
    return *streams_.back();
  }

  /// The stream, destroyed or not; null for none.
  stream_state* find(std::uint64_t handle) const {
    for (const auto& each : streams_)
      if (each->handle == handle) return each.get();
    return nullptr;
  }

  /// Marks the stream; it goes when its work is done.
  void destroy(stream_state& of) {
    of.destroyed = true;
    sweep_ = true;
  }

  const std::vector<std::unique_ptr<stream_state>>& streams() const { return streams_; }

  /// The device's part of collectives will never come.
  void drop(int device) { dropped_ |= std::uint64_t{1} << device; }
  bool is_dropped(int device) const { return (dropped_ >> device & 1) != 0; }

  /// The device's streams stand still, or no longer do.
  void stop(int device, bool still) {
    const std::uint64_t bit = std::uint64_t{1} << device;
    stopped_ = still ? stopped_ | bit : stopped_ & ~bit;
  }
  bool is_stopped(int device) const { return (stopped_ >> device & 1) != 0; }

  std::uint64_t operations_run() const { return run_; }

  /// What devices do while the host makes another call: nothing, or a little.
  void pass_time() {
    while (random_->below(10) < eagerness_ && run_one()) {
    }
  }

  /// What they do until the host has an answer.
  void pass_more_time() {
    for (std::uint64_t steps = 1 + random_->below(16); steps > 0 && run_one(); --steps) {
    }
  }

  /// Runs one operation; false where none can run.
  bool run_one() {
    if (sweep_) {
      std::erase_if(streams_, [](const auto& each) { return each->destroyed && each->queue.empty(); });
      sweep_ = std::any_of(streams_.begin(), streams_.end(), [](const auto& each) { return each->destroyed; });
    }
    candidates_.clear();
    for (const auto& each : streams_)
      if (!each->queue.empty() && is_ready(*each)) candidates_.push_back(each.get());
    if (candidates_.empty()) return false;
    ++run_;
    run(choose());
    return true;
  }

  bool can_run() {
    return std::any_of(streams_.begin(), streams_.end(),
                       [&](const auto& each) { return !each->queue.empty() && is_ready(*each); });
  }

  /// Whether a step waits for other processes.
  bool waits_for_others() const {
    return std::any_of(streams_.begin(), streams_.end(), [](const auto& each) {
      const collective_step* const step = each->queue.empty() ? nullptr : each->queue.front().step.get();
      return step != nullptr && step->is_told && !step->has_heard;
    });
  }

  /// What each stream that has work left waits for.
  std::string waiting() const {
    std::string all;
    for (const auto& each : streams_)
      if (!each->queue.empty())
        all +=
            "\n  " + each->name() + ": " + (is_stopped(each->device) ? "stopped, " : "") + reason(each->queue.front());
    return all;
  }

 private:
  bool is_ready(stream_state& of) {
    if (is_stopped(of.device)) return false;
    operation& next = of.queue.front();
    if (next.waits_for != nullptr) return next.waits_for->reached;
    if (next.step == nullptr) return true;
    if (next.step->communicators[static_cast<std::size_t>(next.rank)]->aborted) return true;
    if (!next.launched) return false;
    if (!next.arrived && !is_dropped(of.device)) {
      next.arrived = true;
      ++next.step->arrived;
    }
    if (next.step->arrived != next.step->participants || next.step->broken) return false;
    if (!next.step->clique->shared) return true;
    tell_others(*next.step);
    return have_others_come(*next.step);
  }

  /// Any; with `prefers_` the one of the highest priority, which changes now and then, so that some streams fall far
  /// behind others.
  stream_state& choose() {
    if (!prefers_) return *candidates_[random_->below(candidates_.size())];
    stream_state& best = **std::max_element(candidates_.begin(), candidates_.end(),
                                            [](const auto* a, const auto* b) { return a->priority < b->priority; });
    if (random_->chance(1, 32)) best.priority = random_->bits();
    return best;
  }

  void learn(stream_state& of, const operation& next) {
    if (next.enqueued == nullptr || next.enqueued == of.joined) return;
    of.joined = next.enqueued;
    of.clock.join(*next.enqueued);
  }

  /// The operation `next` of a stream as the stream's next.
  static access advance(stream_state& of, const char* name) {
    return {name, of.device, of.index, of.clock.advance(of.index)};
  }

  void run(stream_state& of) {
    if (of.queue.front().step != nullptr) {
      const std::shared_ptr<collective_step> step = of.queue.front().step;
      if (step->communicators[static_cast<std::size_t>(of.queue.front().rank)]->aborted) run_aborted(of);
      else run_together(*step);
      return;
    }
    const operation next = std::move(of.queue.front());
    of.queue.pop_front();
    learn(of, next);
    if (next.waits_for != nullptr) of.clock.join(next.waits_for->clock);
    const access who = advance(of, next.name);
    if (next.body != nullptr) return run_body(of, next);
    if (next.pinned.pointer != nullptr) finish_pinned(next, who);
    if (next.run != nullptr) {
      recorder log(*table_, *peers_, who, of.clock, next.launch == nullptr ? nullptr : &next.launch->conditions);
      next.run(log);
      log.finish();
    }
    if (next.records != nullptr) {
      next.records->clock = of.clock;
      next.records->reached = true;
    }
  }

  /// A node that a condition decides: its body comes next, and where it repeats the node itself once more.
  static void run_body(stream_state& of, const operation& node) {
    if (node.launch->conditions.at(node.condition) == 0) return;
    if (node.repeats) of.queue.push_front(node);
    for (auto each = node.body->operations.rbegin(); each != node.body->operations.rend(); ++each) {
      of.queue.push_front(*each);
      of.queue.front().launch = node.launch;
      of.queue.front().enqueued = node.enqueued;
    }
  }

  void finish_pinned(const operation& next, const access& who) const {
    allocation& used = *table_->find(next.pinned.pointer);
    --used.pending;
    if (next.pinned.writes) --used.pending_writes;
    if (!next.pinned.seen.empty() && !std::equal(next.pinned.seen.begin(), next.pinned.seen.end(),
                                                 static_cast<const std::byte*>(next.pinned.pointer)))
      fail("the host has changed ", used.name(), " before ", name_of(who), " had read it");
  }

  /// A step whose members have all come: each knows of what the others whose data it gets had done before.
  void run_together(const collective_step& step) {
    const std::size_t ranks = step.calls.size();
    std::vector<stream_state*> streams(ranks, nullptr);
    std::vector<vector_clock> starts(ranks);
    for (std::size_t r = 0; r < ranks; ++r)
      if (step.streams[r] != 0) {
        streams[r] = find(step.streams[r]);
        learn(*streams[r], streams[r]->queue.front());
        starts[r] = streams[r]->clock;
      }
    std::vector<std::unique_ptr<recorder>> logs(ranks);
    for (std::size_t r = 0; r < ranks; ++r)
      if (streams[r] != nullptr)
        logs[r] = std::make_unique<recorder>(*table_, *peers_, advance(*streams[r], streams[r]->queue.front().name),
                                             streams[r]->clock);
    run_step(step, logs);
    for (std::size_t r = 0; r < ranks; ++r)
      if (logs[r] != nullptr) logs[r]->finish();
    vector_clock all;
    bool joins = false;
    for (std::size_t r = 0; r < ranks; ++r)
      if (!collectives_of(step.calls[r]).empty()) {
        all.join(starts[r]);
        joins = true;
      }
    for (std::size_t r = 0; r < ranks; ++r) {
      if (streams[r] == nullptr) continue;
      if (joins) streams[r]->clock.join(all);
      for (const collective_call& each : step.calls[r])
        if (each.kind == collective_kind::receive) streams[r]->clock.join(starts[static_cast<std::size_t>(each.peer)]);
      streams[r]->queue.pop_front();
      --step.communicators[r]->unfinished;
    }
  }

  /// The part of a member that was aborted: it ends, and leaves its results undefined.
  void run_aborted(stream_state& of) {
    const operation next = std::move(of.queue.front());
    of.queue.pop_front();
    learn(of, next);
    next.step->broken = true;
    recorder log(*table_, *peers_, advance(of, next.name), of.clock);
    for (const collective_call& each : next.step->calls[static_cast<std::size_t>(next.rank)]) {
      log.write(each.target, each.target_bytes());
      if (each.target_bytes() != 0) std::memset(each.target, 0xff, each.target_bytes());
    }
    log.finish();
    --next.step->communicators[static_cast<std::size_t>(next.rank)]->unfinished;
  }

  std::string reason(const operation& next) const {
    if (next.waits_for != nullptr) return "waits for an event of " + next.waits_for->where;
    if (next.step == nullptr) return text(next.name, " could run");
    const collective_step& step = *next.step;
    std::string missing;
    for (std::size_t r = 0; r < step.calls.size(); ++r) {
      if (step.streams[r] == 0) continue;
      const int device = step.clique->devices[r];
      const auto& queue = find(step.streams[r])->queue;
      if (step.communicators[r]->aborted)
        missing += text(missing.empty() ? "" : ", ", r, " (device ", device, ", aborted)");
      else if (queue.empty() || queue.front().step != next.step || !queue.front().arrived)
        missing += text(missing.empty() ? "" : ", ", r, " (device ", device, is_dropped(device) ? ", dropped)" : ")");
    }
    return text(step.name(next.rank), ", rank ", next.rank, " of clique ", step.clique->number,
                next.launched ? ", waits for rank " + missing
                              : ", is not launched yet: group_end said not_ready, and communicator_state does too");
  }

  memory* table_;
  const peer_table* peers_;
  generator* random_;
  std::vector<std::unique_ptr<stream_state>> streams_;
  std::vector<stream_state*> candidates_;
  std::uint32_t created_ = 0;
  bool sweep_ = false;                      // a destroyed stream is left
  std::uint64_t dropped_ = 0, stopped_ = 0; // a bit of each device
  std::uint64_t run_ = 0;
  std::uint64_t eagerness_ = 0; // of ten
  bool prefers_;
};

} // namespace simulator
