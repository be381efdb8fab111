// All processes of a session, as one of them sees them.
#pragma once

#include <parallax/core/support/hash_index.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/processes/errors.hpp>
#include <parallax/processes/notes.hpp>
#include <parallax/processes/transport.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The action of a process that has waited for others for longer than the deadline: to end all processes with exit code
/// 86, or to throw `process_timeout` and leave the others to their own deadlines.
enum class at_deadline { abort, throws };

namespace processes {

/// The tags of messages. Exchanges of devices have tags from `of_devices` on, by position. Exchanges outside of
/// programs have the tag of position 0, so that the two kinds notice each other if they meet.
struct message_tag {
  static constexpr int note = 1, of_devices = 2, outside = of_devices;
};

/// The exit code of all processes if one of them missed a deadline.
inline constexpr int deadline_exit_code = 86;

/// All processes of a session, as one of them sees them. Calls of programs that exchange values between processes are
/// numbered, and run one at a time.
class world {
 public:
  world(std::unique_ptr<transport> by, at_deadline then, std::chrono::nanoseconds timeout)
      : carrier(std::move(by)),
        notes(*carrier, message_tag::note),
        policy(then),
        time_limit(timeout),
        exchanges(index_of(message_tag::of_devices + 1)),
        looks(carrier->count_on_host() <= static_cast<int>(std::thread::hardware_concurrency()) ? 4096 : 16),
        ended(index_of(carrier->count()), 0),
        come_to(index_of(carrier->count()), 0) {}

  transport& by() noexcept { return *carrier; }
  int index() const noexcept { return carrier->index(); }
  int count() const noexcept { return carrier->count(); }
  /// The time limit of an exchange; zero means none.
  std::chrono::nanoseconds timeout() const noexcept { return time_limit; }
  /// How often to look for messages before the processor is left to others: often only if each process has its own.
  std::uint64_t patience() const noexcept { return looks; }
  /// Sets the number of devices of a backend that this process may use at once.
  void set_own_devices(int devices) { exchanges.resize(index_of(message_tag::of_devices + devices)); }
  /// By process: its number of devices.
  std::vector<int> device_counts;
  /// The number of devices of all processes, and of the processes before this one.
  int all_devices = 0, devices_before = 0;

  /// Held while a program runs that exchanges values between processes. Throws `process_error` after a process has
  /// failed in an exchange, since nobody knows where the others stopped.
  class call {
   public:
    explicit call(world& in) : where(in), lock(in.calling) {
      where.check();
      ++where.call_number;
      where.set_about(0);
      std::fill(where.exchanges.begin(), where.exchanges.end(), numbers_by_axes{});
    }
    world& in() noexcept { return where; }

   private:
    world& where;
    std::lock_guard<std::recursive_mutex> lock;
  };

  /// Keeps other threads from running such programs. To be locked before the locks that calls take meanwhile.
  std::unique_lock<std::recursive_mutex> hold_calls() { return std::unique_lock(calling); }

  /// Throws if this session has failed.
  void check() const {
    std::lock_guard lock(mutex);
    if (has_failed)
      throw process_error(failed_process, "this session has failed, end the processes and start them again: " + why);
  }
  bool failed() const noexcept {
    std::lock_guard lock(mutex);
    return has_failed;
  }

  /// The sequence number of the next exchange with this tag and these axes of a mesh in the running call: all members
  /// of a group count alike. One thread at a time uses a tag.
  std::uint64_t next_exchange(int tag, unsigned axes = 0) noexcept { return ++exchanges[index_of(tag)][axes]; }
  /// The running call, as all processes know it: its number and, once that is set, its subject.
  std::uint64_t running_call() const noexcept { return running; }
  void set_about(std::uint64_t program) noexcept { running = mix(call_number, program); }

  /// Ends the session here because of an error, and tells the others, which stop waiting.
  void fail(int process, const std::string& text, bool tell) noexcept {
    {
      std::lock_guard lock(mutex);
      if (has_failed) return;
      has_failed = true;
      failed_process = process;
      why = text;
    }
    if (!tell) return;
    notes.send(note_kind::failure, 0, text);
    notes.flush(std::chrono::steady_clock::now() + grace);
  }

  /// Reads the notes of other processes. Throws `process_error` if one has failed.
  void read_notes() {
    read_arrived_notes();
    std::lock_guard lock(mutex);
    if (has_failed) throw process_error(failed_process, why);
  }
  /// Whether a process has said that its session ends.
  bool has_ended(int process) const noexcept {
    std::lock_guard lock(mutex);
    return ended[index_of(process)] != 0;
  }

  /// Tells the others that this process' session ends, and waits for them to end theirs too, unless one has failed. At
  /// the deadline it acts as `miss` does, but throws no exception.
  void end() noexcept {
    if (failed()) return;
    notes.send(note_kind::end, 0, "");
    const auto deadline = time_limit.count() > 0 ? std::chrono::steady_clock::now() + time_limit
                                                 : std::chrono::steady_clock::time_point::max();
    while (!failed() && !all_are_away()) {
      try {
        read_arrived_notes();
      } catch (...) {
        return fail(index(), "it could not read what the others say at the end", false);
      }
      if (std::chrono::steady_clock::now() > deadline) {
        std::fprintf(stderr, "parallax: process %d: some processes have not ended their session in time\n", index());
        std::fflush(stderr);
        if (policy == at_deadline::abort) carrier->abort(deadline_exit_code);
        return fail(-1, "some processes have not ended in time", false);
      }
      std::this_thread::yield();
    }
    notes.flush(deadline);
  }

  /// The number of an exchange without messages among those of the session; equal on all processes.
  std::uint64_t next_shared_exchange() noexcept { return ++shared_exchanges; }
  std::uint64_t shared_count() const noexcept { return shared_exchanges; }
  /// Asks at the deadline which processes have come to such an exchange. Returns those that have, and then those that
  /// have not or do not answer.
  std::pair<std::vector<int>, std::vector<int>> ask_who_waits(std::uint64_t number) {
    notes.send(note_kind::asks, shared_exchanges, "");
    std::pair<std::vector<int>, std::vector<int>> all;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    do {
      read_arrived_notes();
      std::lock_guard lock(mutex);
      all = {};
      for (int other = 0; other < count(); ++other)
        if (other != index()) (come_to[index_of(other)] >= number ? all.first : all.second).push_back(other);
    } while (!all.second.empty() && std::chrono::steady_clock::now() < until);
    return all;
  }
  /// A process that has ended its session or is gone; -1 if there is none.
  int first_gone() const noexcept {
    for (int other = 0; other < count(); ++other)
      if (other != index() && is_away(other)) return other;
    return -1;
  }

  /// Throws for a process that has ended its session while others wait for it in `what`.
  [[noreturn]] void refuse_gone(int process, const std::string& what) {
    const std::string text =
        "process " + std::to_string(process) + " has ended its session while others wait for it in " + what;
    fail(process, text, true);
    throw process_error(process, text);
  }
  /// The action at the deadline.
  [[noreturn]] void miss(const process_timeout& what) {
    if (policy == at_deadline::abort) {
      std::fprintf(stderr, "parallax: %s\n", what.what());
      std::fflush(stderr);
      carrier->abort(deadline_exit_code);
    }
    fail(what.process(), what.what(), true);
    throw what;
  }

  /// Keeps copies of handles to memory for ever, because a message may still be read from there or written to it. If
  /// there is no memory for the copies, the process ends.
  template <class... Handles> void keep_for_ever(const Handles&... handles) noexcept {
    auto copies = std::make_shared<const std::tuple<Handles...>>(handles...);
    std::lock_guard lock(mutex);
    kept.push_back(std::move(copies));
  }

  /// Agreements about programs, by their subject.
  using agreement_map = std::map<std::vector<std::uint64_t>, std::shared_ptr<const void>>;
  agreement_map agreements; ///< to be used during a call

 private:
  friend class call;

  bool is_away(int process) const noexcept { return has_ended(process) || carrier->is_gone(process); }
  bool all_are_away() const noexcept {
    for (int other = 0; other < count(); ++other)
      if (other != index() && !is_away(other)) return false;
    return true;
  }
  void read_arrived_notes() {
    bool is_asked = false;
    notes.read([&](int from, const note& got) {
      std::lock_guard lock(mutex);
      switch (got.kind) {
      case note_kind::end: ended[index_of(from)] = 1; break;
      case note_kind::asks: is_asked = true; [[fallthrough]];
      case note_kind::has_come: come_to[index_of(from)] = got.number; break;
      case note_kind::failure:
        if (has_failed) break;
        has_failed = true;
        failed_process = from;
        why = "process " + std::to_string(from) + " failed: " + got.text();
      }
    });
    if (is_asked) notes.send(note_kind::has_come, shared_exchanges, "");
  }

  static constexpr std::chrono::milliseconds grace{500}; ///< longest wait until a failure's notes are delivered

  std::unique_ptr<transport> carrier;
  note_board notes;
  at_deadline policy;
  std::chrono::nanoseconds time_limit;
  std::recursive_mutex calling; ///< a program may call a function of the user that calls another
  std::uint64_t call_number = 0, running = 0;
  std::atomic<std::uint64_t> shared_exchanges{0};
  using numbers_by_axes = std::array<std::uint32_t, 16>; ///< by mask
  std::vector<numbers_by_axes> exchanges;                ///< of the running call, by tag
  std::uint64_t looks;

  mutable std::mutex mutex; ///< of the members below
  bool has_failed = false;
  int failed_process = -1;
  std::string why;
  std::vector<char> ended;
  std::vector<std::uint64_t> come_to; ///< by process: number of the last exchange that it named; 0 if none
  std::vector<std::shared_ptr<const void>> kept;
};

/// The world of the session; null if this process is alone.
inline std::atomic<world*> world_of_process{nullptr};
inline world* current_world() noexcept { return world_of_process.load(std::memory_order_acquire); }

} // namespace processes
} // namespace parallax::PARALLAX_INLINE_VERSION
