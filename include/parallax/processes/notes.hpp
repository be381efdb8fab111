// Notes of a process to all others outside of exchanges: that it failed, that it ends, and where it waits.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/processes/errors.hpp>
#include <parallax/processes/transport.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::processes {

/// `asks` and `has_come` name the exchange that a process has come to; the answer to `asks` is `has_come`.
enum class note_kind : std::uint64_t { failure, end, asks, has_come };

struct note {
  static constexpr std::size_t capacity = 1000;
  note_kind kind{};
  std::uint64_t number = 0; ///< of an exchange
  std::uint64_t length = 0;
  char characters[capacity]{};

  std::string text() const { return {characters, static_cast<std::size_t>(std::min<std::uint64_t>(length, capacity))}; }
};

/// Sends and reads notes. Several threads may do so.
class note_board {
 public:
  /// `tag` is the tag of notes.
  note_board(transport& by, int tag) : carrier(by), note_tag(tag) {}

  /// Sends a note to all others. If it cannot be sent, their own deadlines end their waiting.
  void send(note_kind kind, std::uint64_t number, const std::string& text) noexcept {
    try {
      auto made = std::make_unique<sent_note>();
      made->content.kind = kind;
      made->content.number = number;
      made->content.length = std::min(text.size(), note::capacity);
      std::memcpy(made->content.characters, text.data(), made->content.length);
      made->transfers.reserve(index_of(carrier.count()));
      std::lock_guard lock(mutex);
      sent.push_back(std::move(made)); // before any part of it is sent
      for (int other = 0; other < carrier.count(); ++other)
        if (other != carrier.index()) send_to(other, *sent.back());
    } catch (...) {
      return;
    }
  }
  /// Waits until the others have all notes that were sent.
  void flush(std::chrono::steady_clock::time_point until) noexcept {
    std::unique_lock lock(mutex);
    for (std::unique_ptr<sent_note>& each : sent)
      while (!is_sent(*each) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
  /// Calls `f(process, note)` for the notes that have come, unless another thread reads.
  template <class F> void read(const F& f) {
    std::unique_lock lock(reading, std::try_to_lock);
    if (!lock) return;
    int from = 0;
    std::size_t bytes = 0;
    while (carrier.has_come(note_tag, from, bytes)) {
      note got;
      transfer coming = carrier.receive(from, note_tag, &got, sizeof got);
      while (!carrier.is_done(coming)) {
      }
      f(from, got);
    }
  }

 private:
  struct sent_note {
    note content;
    std::vector<transfer> transfers;
  };

  void send_to(int process, sent_note& what) noexcept {
    try {
      what.transfers.push_back(carrier.send(process, note_tag, &what.content, sizeof(note)));
    } catch (...) {
      return; // the process is gone
    }
  }
  bool is_sent(sent_note& each) noexcept {
    try {
      while (!each.transfers.empty() && carrier.is_done(each.transfers.back())) each.transfers.pop_back();
      return each.transfers.empty();
    } catch (...) {
      return true;
    }
  }

  transport& carrier;
  int note_tag;
  std::mutex reading, mutex;
  std::vector<std::unique_ptr<sent_note>> sent;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::processes
