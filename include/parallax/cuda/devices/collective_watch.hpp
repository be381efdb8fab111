// How the host waits for its devices: it watches the collectives meanwhile, and aborts all of them if one of them fails
// or comes no further.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/errors.hpp>
#include <parallax/cuda/devices/clique.hpp>
#include <parallax/cuda/devices/clique_cache.hpp>
#include <parallax/cuda/devices/device.hpp>
#include <parallax/cuda/devices/enqueue_mutex.hpp>
#include <parallax/cuda/devices/flight_recorder.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/processes/world.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Watches the collectives of one backend: its devices, the cliques of them, and the record of what they have begun.
template <device_api Api> class collective_watch {
 public:
  /// `timeout` is that of collectives within this process; zero: none.
  collective_watch(std::deque<device<Api>>& of, clique_cache<Api>& of_devices, flight_recorder<Api>& of_collectives,
                   std::chrono::nanoseconds timeout)
      : devices(of), cliques(of_devices), recorder(of_collectives), own_timeout(timeout) {}
  collective_watch(const collective_watch&) = delete; // functions that wait refer to it
  collective_watch& operator=(const collective_watch&) = delete;

  /// Waits until nothing goes on in the background of a clique.
  void wait_for_clique(const clique<Api>& each) {
    const deadline until(time_limit());
    listener others(*this);
    std::vector<bool> idle_members;
    while (!or_abort([&] { return each.is_idle(idle_members); })) {
      const shared_collective shared = meeting_of(each);
      others.look(shared);
      if (until.is_over()) miss(until, " for NCCL to get ready", shared);
    }
  }

  /// After a failure: waits until the devices no longer use what is about to be released, or until the deadline.
  void settle() noexcept {
    recorder.forget_begun();
    const deadline until(time_limit());
    for (device<Api>& each : devices) {
      try {
        auto wait = waiting();
        while (is_unfinished(each)) wait();
      } catch (const error&) { // has aborted the work that it waited for, or cannot ask
        while (is_unfinished(each) && !until.is_over()) std::this_thread::yield();
      }
    }
  }

  /// Ends all collectives, which will not end by themselves, and forgets the communicators.
  void abandon_cliques() noexcept {
    ++times_ended;
    last_failure.reset();
    forget_graphs();
    cliques.abandon();
  }

  /// A function for loops that wait for a device to call: it watches the collectives.
  std::function<void()> waiting() {
    return [watch = watching()]() mutable {
      watch();
      std::this_thread::yield();
    };
  }
  /// A function like that of `waiting`, for loops that let other threads enqueue. It watches now and then, unless
  /// another thread has the mutex: that one gives it up soon, or watches itself.
  std::function<void()> waiting_beside_others() {
    return [watch = watching(), calls = 0U]() mutable {
      if (calls++ % 64 == 0) {
        const std::unique_lock lock(enqueue_mutex<Api>::instance(), std::try_to_lock);
        if (lock.owns_lock()) watch();
      }
      std::this_thread::yield();
    };
  }

  /// The number of times that collectives were aborted. If it changes while a thread waits for a result, the result may
  /// be invalid: the thread then calls `check_collectives` with the old number, which throws the failure.
  std::uint64_t ended_collectives() const { return times_ended; }
  void check_collectives(std::uint64_t before) const {
    if (times_ended == before) return;
    if (last_failure) throw collective_error(*last_failure);
    throw error("collectives were given up while their result was waited for");
  }

  /// Called before a step of a program is enqueued. Keeps the host from running so far ahead of a collective that the
  /// driver's queues are full: behind a collective that never ends, it would wait for room in them for ever, with no
  /// deadline.
  void note_step() {
    recorder.note_step();
    if (!recorder.is_ahead(most_steps_ahead)) return;
    auto wait = waiting();
    while (recorder.is_ahead(most_steps_ahead)) wait();
  }

  /// Forgets the graphs that have collectives: they end before the communicators.
  void forget_graphs() noexcept {
    for (device<Api>& each : devices) each.graphs.forget_exchanges();
  }

 private:
  /// Each step takes a few entries of a queue of about a thousand.
  static constexpr std::uint64_t most_steps_ahead = 128;

  /// A time that is over some time after it was made.
  class deadline {
   public:
    explicit deadline(std::chrono::nanoseconds after) : limit(after), start(std::chrono::steady_clock::now()) {}
    bool is_over() const { return limit.count() > 0 && std::chrono::steady_clock::now() - start > limit; }
    double seconds() const { return std::chrono::duration<double>(limit).count(); }
    std::string text() const { return std::to_string(seconds()) + " s"; }

   private:
    std::chrono::nanoseconds limit;
    std::chrono::steady_clock::time_point start;
  };

  /// The part of `waiting` that is done each time.
  std::function<void()> watching() {
    return [this, until = deadline(time_limit()), others = listener(*this), looks = 0U,
            progress = recorder.progress()]() mutable {
      cliques.for_each([this](const clique<Api>& each) { or_abort([&] { return each.is_idle(); }); });
      if (++looks % 16 == 0) others.look(recorder.waits_for_others());
      if (!until.is_over() || !recorder.is_going_on()) return;
      // the limit is of one collective, and many may have been enqueued
      const auto now = recorder.progress();
      if (now == progress)
        if (const auto shared = recorder.waits_for_others(); !may_take_any_time(shared)) miss(until, "", shared);
      progress = now;
      until = deadline(time_limit());
    };
  }

  static bool is_unfinished(const device<Api>& each) noexcept {
    kept_failure::keep(Api::set_device(each.physical));
    for (const auto stream : each.streams())
      if (Api::query_stream(stream).is == status::kind::not_ready) return true;
    return false;
  }

  /// Calls `ask`, which asks cliques; if one of them has failed, aborts all collectives.
  template <class Ask> auto or_abort(const Ask& ask) {
    try {
      return ask();
    } catch (const cuda_error& failure) {
      abort_all(failure.what());
    }
  }
  [[noreturn]] void abort_all(const std::string& reason) {
    collective_error failure = recorder.failure(reason);
    abandon_cliques();
    last_failure = failure;
    if (processes::world* const others = world_of_others()) others->fail(others->index(), failure.what(), true);
    throw failure;
  }

  // Other processes

  using shared_collective = typename flight_recorder<Api>::shared_collective;

  static processes::world* world_of_others() {
    processes::world* const all = processes::current_world();
    return all == nullptr || all->count() == 1 ? nullptr : all;
  }
  std::chrono::nanoseconds time_limit() const {
    processes::world* const others = world_of_others();
    return others == nullptr ? own_timeout : others->timeout();
  }
  static shared_collective meeting_of(const clique<Api>& each) {
    if (!each.is_shared()) return {};
    return {.name = "the meeting of NCCL's members", .number = world_of_others()->shared_count()};
  }

  /// Watches other processes while this one waits for them.
  class listener {
   public:
    explicit listener(collective_watch& of) : owner(&of) {}
    /// `shared` is the collective that this process waits in. Throws `process_error`, and aborts all collectives, if a
    /// process has failed or is gone, so that it will not come.
    void look(const shared_collective& shared) {
      processes::world* const others = world_of_others();
      if (others == nullptr || !shared) return;
      try {
        others->read_notes();
        if (others->first_gone() < 0) return;
        // the last messages of a process that has left may not have been seen here yet
        if (!until) until.emplace(std::chrono::milliseconds(500));
        if (until->is_over()) others->refuse_gone(others->first_gone(), shared.name);
      } catch (...) {
        owner->abandon_cliques();
        throw;
      }
    }

   private:
    collective_watch* owner;
    std::optional<deadline> until;
  };
  /// Whether all processes have launched a graph, which may take any time to come to its collectives and between them.
  static bool may_take_any_time(const shared_collective& waits_in) {
    processes::world* const others = world_of_others();
    return others != nullptr && waits_in.in_graph && others->ask_who_waits(waits_in.number).second.empty();
  }
  /// Fails at the deadline. `shared` is the collective with other processes that this one waits in, if any.
  [[noreturn]] void miss(const deadline& after, const char* what, const shared_collective& shared) {
    processes::world* const others = world_of_others();
    if (others == nullptr || !shared) abort_all("waited " + after.text() + what);
    const auto [arrived, missing] = others->ask_who_waits(shared.number);
    try {
      others->miss(process_timeout(others->index(), shared.name, shared.number, after.seconds(), arrived, missing));
    } catch (...) {
      abandon_cliques();
      throw;
    }
  }

  std::deque<device<Api>>& devices;
  clique_cache<Api>& cliques;
  flight_recorder<Api>& recorder;
  std::chrono::nanoseconds own_timeout;
  std::uint64_t times_ended = 0;
  std::optional<collective_error> last_failure; ///< the failure that they were aborted for the last time
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
