// All processes that run together, as one of them sees them.
#pragma once

#include <parallax/core/hash_index.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/processes/errors.hpp>
#include <parallax/processes/transport.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace parallax {

/// What a process does when it has waited for others for longer than the deadline: end all processes with exit code 86,
/// or throw `process_timeout` and leave the others to their own deadlines.
enum class at_deadline { abort, throws };

namespace processes {

/// What messages are about. Those of devices' exchanges have tags from `of_devices` on, by position. What processes
/// say to each other outside of programs has that of position 0, so that the two are not missed where they meet.
struct message_tag {
  static constexpr int note = 1, of_devices = 2, outside = of_devices;
};

/// The exit code of all processes where one of them was missed.
inline constexpr int deadline_exit_code = 86;

/// All processes of a session, seen by one of them. Calls of programs that exchange values between processes are
/// numbered, and are one at a time.
class world {
 public:
  /// `devices` is how many this process has.
  world(std::unique_ptr<transport> by, at_deadline then, std::chrono::nanoseconds timeout, int devices)
      : carrier(std::move(by)),
        policy(then),
        time_limit(timeout),
        exchanges(index_of(message_tag::of_devices + devices)),
        looks(carrier->count_on_host() <= static_cast<int>(std::thread::hardware_concurrency()) ? 4096 : 16),
        ended(index_of(carrier->count()), 0) {}

  transport& by() noexcept { return *carrier; }
  int index() const noexcept { return carrier->index(); }
  int count() const noexcept { return carrier->count(); }
  /// Zero means none.
  std::chrono::nanoseconds timeout() const noexcept { return time_limit; }
  /// How often to look for messages before others get the processor: often only where each process has its own.
  std::uint64_t patience() const noexcept { return looks; }
  /// The number of all processes' devices, and of those of the processes before this one.
  int all_devices = 0, devices_before = 0;

  /// Held while a program runs that exchanges values between processes. Throws `process_error` once a process has
  /// failed in an exchange: where the others stopped is not known then.
  class call {
   public:
    explicit call(world& in) : where(in), lock(in.calling) {
      where.check();
      ++where.call_number;
      where.about = 0;
      std::fill(where.exchanges.begin(), where.exchanges.end(), 0);
    }
    world& in() noexcept { return where; }

   private:
    world& where;
    std::lock_guard<std::recursive_mutex> lock;
  };

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

  /// The number of an exchange among those of the running call whose messages have this tag. One thread at a time uses
  /// a tag.
  std::uint64_t next_exchange(int tag) noexcept { return ++exchanges[index_of(tag)]; }
  /// Which call is running, as all processes know it: its number, and what it is about once that is set.
  std::uint64_t running_call() const noexcept { return mix(call_number, about); }
  void set_about(std::uint64_t program) noexcept { about = program; }

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
    send_note(note_kind::failure, text);
    flush_notes(std::chrono::steady_clock::now() + std::chrono::milliseconds(500));
  }

  /// Looks for what other processes had to say. Throws `process_error` where one has failed.
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

  /// Tells the others that this process' session ends, and waits for them to say so as well, unless one has failed. At
  /// the deadline it goes on as `miss` does, but throws nothing.
  void end() noexcept {
    if (failed()) return;
    send_note(note_kind::end, "");
    const auto deadline = time_limit.count() > 0 ? std::chrono::steady_clock::now() + time_limit
                                                 : std::chrono::steady_clock::time_point::max();
    while (!failed() && !all_have_ended()) {
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
    flush_notes(deadline);
  }

  /// What happens at the deadline.
  [[noreturn]] void miss(const process_timeout& what) {
    if (policy == at_deadline::abort) {
      std::fprintf(stderr, "parallax: %s\n", what.what());
      std::fflush(stderr);
      carrier->abort(deadline_exit_code);
    }
    fail(what.process(), what.what(), true);
    throw what;
  }

  /// Keeps copies of handles to memory for ever: a message may still be read from there or written to it. Where there
  /// is no memory for that, the process ends.
  template <class... Handles> void keep_for_ever(const Handles&... handles) noexcept {
    auto copies = std::make_shared<const std::tuple<Handles...>>(handles...);
    std::lock_guard lock(mutex);
    kept.push_back(std::move(copies));
  }

  /// Where agreements about programs are kept, by what they are about.
  using agreement_map = std::map<std::vector<std::uint64_t>, std::shared_ptr<const void>>;
  agreement_map agreements; ///< to be used during a call

 private:
  friend class call;

  enum class note_kind : std::uint64_t { failure, end };
  static constexpr std::size_t note_capacity = 1000;
  struct note {
    note_kind kind{};
    std::uint64_t length = 0;
    char text[note_capacity]{};
  };
  struct sent_note {
    note content;
    std::vector<transfer> transfers;
  };

  void send_note(note_kind kind, const std::string& text) noexcept {
    try {
      auto made = std::make_unique<sent_note>();
      made->content.kind = kind;
      made->content.length = std::min(text.size(), note_capacity);
      std::memcpy(made->content.text, text.data(), made->content.length);
      for (int other = 0; other < count(); ++other)
        if (other != index())
          made->transfers.push_back(carrier->send(other, message_tag::note, &made->content, sizeof(note)));
      std::lock_guard lock(mutex);
      sent.push_back(std::move(made));
    } catch (...) {
      return; // the others have their deadlines
    }
  }
  bool all_have_ended() noexcept {
    std::lock_guard lock(mutex);
    for (int other = 0; other < count(); ++other)
      if (other != index() && ended[index_of(other)] == 0 && !carrier->is_gone(other)) return false;
    return true;
  }
  void flush_notes(std::chrono::steady_clock::time_point until) noexcept {
    std::unique_lock lock(mutex);
    for (std::unique_ptr<sent_note>& each : sent)
      while (!is_sent(each) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
  bool is_sent(std::unique_ptr<sent_note>& each) noexcept {
    try {
      while (!each->transfers.empty() && carrier->is_done(each->transfers.back())) each->transfers.pop_back();
      return each->transfers.empty();
    } catch (...) {
      return true;
    }
  }
  void read_arrived_notes() {
    std::unique_lock reading(note_reading, std::try_to_lock);
    if (!reading) return;
    int from = 0;
    std::size_t bytes = 0;
    while (carrier->has_come(message_tag::note, from, bytes)) {
      note got;
      transfer coming = carrier->receive(from, message_tag::note, &got, sizeof got);
      while (!carrier->is_done(coming)) {
      }
      std::lock_guard lock(mutex);
      if (got.kind == note_kind::end) {
        ended[index_of(from)] = 1;
      } else if (!has_failed) {
        has_failed = true;
        failed_process = from;
        why = "process " + std::to_string(from) + " failed: " +
              std::string(got.text, static_cast<std::size_t>(std::min<std::uint64_t>(got.length, note_capacity)));
      }
    }
  }

  std::unique_ptr<transport> carrier;
  at_deadline policy;
  std::chrono::nanoseconds time_limit;
  std::recursive_mutex calling; ///< a program may call a function of the user that calls another
  std::mutex note_reading;
  std::uint64_t call_number = 0, about = 0;
  std::vector<std::uint32_t> exchanges; ///< of the running call, by tag
  std::uint64_t looks;

  mutable std::mutex mutex; ///< of what follows
  bool has_failed = false;
  int failed_process = -1;
  std::string why;
  std::vector<char> ended;
  std::vector<std::unique_ptr<sent_note>> sent;
  std::vector<std::shared_ptr<const void>> kept;
};

/// The session's, or null where this process is alone.
inline std::atomic<world*> world_of_process{nullptr};
inline world* current_world() noexcept { return world_of_process.load(std::memory_order_acquire); }

} // namespace processes
} // namespace parallax
