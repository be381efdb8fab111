// A simulated machine of up to 64 devices. While it lives, `simulator::api` is about it.
#pragma once

#include "support/simulator/world.hpp"

#include <parallax/cuda/api/status.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace simulator {

using parallax::cuda::status;

/// What sort of call one is.
struct call_traits {
  bool asks = false;     ///< a question, while which devices go on
  bool ends = false;     ///< it does its work even where it is made to fail, and throws nothing: destructors call it
  bool in_group = false; ///< part of a group, which fails with it
  bool closes = false;   ///< it does something even where it is made to fail
};

/// Faults are thrown by the call that finds them, except by those that destructors make: then by the next that may, and
/// by `finish`. After a fault nothing runs any more; all calls fail with its text.
class machine {
 public:
  explicit machine(const machine_options& options = {}) : inside_(options), outer_(std::exchange(current_, this)) {
    if (options.devices < 1 || options.devices > most_devices) {
      current_ = outer_;
      fail("a machine of ", options.devices, " devices");
    }
    keep_pages();
    inside_.let_others_call = [this](auto since) { return let_others_call(since); };
  }

  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  ~machine() {
    current_ = outer_;
    if (fault_.empty() || thrown_) return;
    std::fprintf(stderr, "a fault that nobody was told of: %s\n", fault_.c_str());
    if (std::uncaught_exceptions() == 0) std::abort();
  }

  /// The machine that lives; faults where none does.
  static machine& current() {
    if (current_ == nullptr) fail("a call of the api without a machine");
    return *current_;
  }

  /// How many calls of the api were made.
  std::uint64_t calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  /// Counts the calls from now on by their functions' names; null: no longer.
  void count_calls(std::map<std::string_view, int>* into) {
    const std::lock_guard lock(mutex_);
    counted_ = into;
  }

  /// Makes the `call`-th call, from 1, return a failure.
  void fail_call(std::uint64_t call, status::kind how = status::kind::failure) {
    const std::lock_guard lock(mutex_);
    failing_ = call;
    failing_how_ = how;
  }
  /// The function whose call was made to fail, and whether destructors call it; empty so far as none was.
  const std::string& failed_call() const { return failed_call_; }
  bool failed_call_ends() const { return failed_call_ends_; }

  /// The device's part of every collective never comes, and nobody says so.
  void drop_rank(int device) {
    const std::lock_guard lock(mutex_);
    inside_.scheduled.drop(device);
  }

  /// Nothing that was given to the device runs any more, or it does again.
  void stop_device(int device) {
    const std::lock_guard lock(mutex_);
    inside_.scheduled.stop(device, true);
  }
  void resume_device(int device) {
    const std::lock_guard lock(mutex_);
    inside_.scheduled.stop(device, false);
    ++inside_.activity;
  }

  /// As `drop_rank`, and the states of its communicators, and of their peers, are failures.
  void fail_rank(int device) {
    const std::lock_guard lock(mutex_);
    inside_.scheduled.drop(device);
    inside_.failed_ranks |= std::uint64_t{1} << device;
  }

  /// Runs all that can run.
  void drain() {
    const std::lock_guard lock(mutex_);
    guarded([&] {
      while (inside_.scheduled.run_one()) {
      }
    });
  }

  /// Runs everything, and faults where something is left: work, memory, streams, events, communicators, graphs.
  void finish() {
    const std::lock_guard lock(mutex_);
    if (!fault_.empty()) rethrow();
    guarded([&] {
      check_closed();
      while (inside_.scheduled.run_one()) {
      }
      if (const std::string left = inside_.scheduled.waiting(); !left.empty())
        fail("work is left that can never run:", left);
      check_leaks();
    });
  }

  world& inside() { return inside_; }

  /// Makes a call: `f` returns its status.
  template <class F> status call(const char* name, const call_traits& traits, F f) {
    std::unique_lock lock(mutex_);
    const status result = locked_call(name, traits, f);
    const bool others = inside_.threads.size() > 1;
    lock.unlock();
    if (others) std::this_thread::yield(); // whoever asks again and again lets the others make their calls
    return result;
  }

  /// What a call returns that failed.
  static status failure(const char* name, std::string_view meaning, int code = -1,
                        status::kind how = status::kind::failure) {
    return {how, code, "simulator", name, parallax::cuda::kept_text(meaning)};
  }

 private:
  static constexpr const char* injected_text = "made to fail";

  template <class F> status locked_call(const char* name, const call_traits& traits, F& f) {
    ++calls_;
    if (counted_ != nullptr) ++(*counted_)[name];
    if (!fault_.empty()) return refuse(name, traits);
    inside_.caller = &inside_.threads[number_of_this_thread()];
    const bool failing = calls_ == failing_;
    if (failing) {
      failed_call_ = name;
      failed_call_ends_ = traits.ends;
      if (traits.in_group) inside_.caller->group.failed = true;
      if (!traits.ends && !traits.closes) return failure(name, injected_text, -1, failing_how_);
    }
    inside_.failing = failing;
    try {
      if (traits.asks) inside_.scheduled.pass_more_time();
      const status result = f();
      if (traits.asks) note_answer(result);
      else inside_.scheduled.pass_time();
      return failing ? failure(name, injected_text, -1, failing_how_) : result;
    } catch (const std::exception& found) {
      fault_ = found.what();
      return refuse(name, traits);
    }
  }

  /// Never another thread's, even when that has ended.
  static std::uint64_t number_of_this_thread() {
    static std::atomic<std::uint64_t> last{0};
    thread_local const std::uint64_t own = ++last;
    return own;
  }

  status refuse(const char* name, const call_traits& traits) {
    if (!thrown_ && !traits.ends && std::uncaught_exceptions() == 0) rethrow();
    return failure(name, fault_);
  }

  [[noreturn]] void rethrow() {
    thrown_ = true;
    throw fault(fault_);
  }

  /// Thousands of machines take the same memory one after another: it is not to go back to the system in between.
  static void keep_pages() {
#ifdef __GLIBC__
    static const bool done = mallopt(M_MMAP_THRESHOLD, 32 << 20) != 0 && mallopt(M_TRIM_THRESHOLD, 1 << 30) != 0;
    static_cast<void>(done);
#endif
  }

  template <class F> void guarded(F f) {
    try {
      f();
    } catch (const std::exception& found) {
      fault_ = found.what();
      rethrow();
    }
  }

  void note_answer(const status& answer) {
    const std::uint64_t activity = inside_.activity + inside_.scheduled.operations_run();
    if (std::exchange(last_activity_, activity) != activity) fruitless_ = 0;
    if (answer.is != status::kind::not_ready || inside_.scheduled.can_run()) return;
    if (inside_.scheduled.waits_for_others()) return std::this_thread::yield();
    if (fruitless_++ == 0) last_fruitful_ = std::chrono::steady_clock::now();
    if (fruitless_ >= inside_.options.polls_until_stuck && inside_.options.fail_when_stuck && nobody_helps())
      fail("stuck: the host has asked ", fruitless_, " times, and nothing can run:", inside_.scheduled.waiting());
  }

  /// Another thread of the host may be about to, unless it has had the time.
  bool nobody_helps() const { return nobody_helps(last_fruitful_); }
  bool nobody_helps(std::chrono::steady_clock::time_point since) const {
    return inside_.threads.size() == 1 || std::chrono::steady_clock::now() - since > inside_.options.time_until_stuck;
  }
  bool let_others_call(std::chrono::steady_clock::time_point since) {
    if (nobody_helps(since)) return false;
    const auto own = std::pair(inside_.caller, inside_.failing);
    mutex_.unlock();
    std::this_thread::yield();
    mutex_.lock();
    if (!fault_.empty()) fail(fault_);
    std::tie(inside_.caller, inside_.failing) = own;
    return true;
  }

  void check_closed() const {
    for (const auto& [number, thread] : inside_.threads)
      if (thread.group.depth != 0) fail("a group_start without its group_end");
    for (const auto& each : inside_.scheduled.streams())
      if (each->capture != nullptr) fail("the capture of ", each->name(), " was never ended");
  }

  void check_leaks() const {
    if (const auto left = inside_.table.left(); !left.empty())
      fail("a leak: ", left.front()->name(), " was never released", others(left.size()));
    std::string streams;
    std::size_t count = 0;
    for (const auto& each : inside_.scheduled.streams())
      if (!each->destroyed && ++count == 1) streams = each->name();
    if (count != 0) fail("a leak: ", streams, " was never destroyed", others(count));
    const auto none_left = [](const auto& all, const char* what) {
      if (!all.empty()) fail("a leak: ", what, " was never destroyed", others(all.size()));
    };
    none_left(inside_.events, "an event");
    none_left(inside_.communicators, "a communicator");
    none_left(inside_.graphs, "a graph");
  }

  static std::string others(std::size_t count) { return count == 1 ? "" : text(", nor ", count - 1, " more"); }

  static inline machine* current_ = nullptr;

  mutable std::mutex mutex_; // of all that follows
  world inside_;
  machine* outer_;
  std::uint64_t calls_ = 0;
  std::map<std::string_view, int>* counted_ = nullptr;
  std::uint64_t failing_ = 0;
  status::kind failing_how_ = status::kind::failure;
  std::string failed_call_;
  bool failed_call_ends_ = false;
  unsigned fruitless_ = 0; // answers since `last_activity_`
  std::chrono::steady_clock::time_point last_fruitful_;
  std::uint64_t last_activity_ = 0;
  std::string fault_;
  bool thrown_ = false;
};

} // namespace simulator
