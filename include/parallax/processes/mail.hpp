// One exchange of messages between processes: every process knows who sends how many bytes to whom.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/core/support/hash_index.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/processes/world.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::processes {

/// The exchange that messages belong to. All processes have to agree in it.
struct occasion {
  std::string_view name; ///< its name in errors
  int tag;
  std::uint64_t number; ///< of the exchange among those with this tag
  std::uint64_t kind;   ///< the kind of the exchange
  std::uint64_t part = 0, step = 0;
};

/// The messages of one exchange: the caller first gives all outgoing and expected ones, then delivers them. Each
/// message names its exchange, so that processes which are in different exchanges are found out.
class mail {
 public:
  mail(world& where, const occasion& which)
      : all(where),
        tag(which.tag),
        name(which.name),
        number(which.number),
        stamp(mix(mix(where.running_call(), number), which.kind + (which.part << 16) + (which.step << 40))) {
    posts.reserve(8);
  }

  /// Memory for a message of `bytes` bytes to a process; to be filled before `deliver`.
  std::byte* to(int process, std::size_t bytes) { return add(way::goes, process, bytes, nullptr); }
  /// Sends the last message to another process too.
  void same_to(int process) {
    const post& last =
        *std::find_if(posts.rbegin(), posts.rend(), [](const post& each) { return each.is == way::goes; });
    post same{last.is, process, last.bytes, last.memory, last.data};
    posts.push_back(std::move(same));
  }
  /// Sends bytes from the caller's memory. If delivering fails, that memory has to stay for ever: the message may still
  /// be read from there.
  void lend_to(int process, const std::byte* data, std::size_t bytes) {
    if (!is_long(bytes)) std::memcpy(to(process, bytes), data, bytes);
    else add(way::goes, process, bytes, const_cast<std::byte*>(data));
  }
  /// Expects `bytes` bytes from a process. Returns the place where they will be.
  const std::byte* from(int process, std::size_t bytes) { return add(way::comes, process, bytes, nullptr); }
  /// Expects bytes in the caller's memory, which has to stay as that of `lend_to` does. Returns the place where they
  /// will be: elsewhere if they are few.
  const std::byte* from(int process, std::size_t bytes, std::byte* target) {
    return add(way::comes, process, bytes, is_long(bytes) ? target : nullptr);
  }

  /// Sends and receives all messages. Throws `process_timeout` at the deadline, and `process_error` if another process
  /// fails, ends, or is in another exchange.
  void deliver() {
    try {
      for (post& each : posts)
        if (each.is == way::comes)
          each.begin(
              [&](std::byte* data, std::size_t bytes) { return all.by().receive(each.process, tag, data, bytes); });
      for (post& each : posts) {
        if (each.is != way::goes) continue;
        each.head() = {stamp, each.bytes};
        each.begin([&](std::byte* data, std::size_t bytes) { return all.by().send(each.process, tag, data, bytes); });
      }
      wait();
      for (post& each : posts)
        if (each.is == way::comes) check(each);
    } catch (...) {
      // messages on their way still need their memory
      all.keep_for_ever(memory);
      all.fail(all.index(), std::string(name) + " between processes failed", true); // if no process has said so yet
      throw;
    }
  }

 private:
  struct header {
    std::uint64_t stamp, bytes;
  };
  /// The payload begins at a cache line.
  static constexpr std::size_t before = 64;
  /// MPI sends messages up to 4 KiB at once. Longer ones wait for the receiver's consent, which takes longer than a few
  /// short messages.
  static constexpr std::size_t piece_bytes = 4000, most_pieces = 4, longest_message = std::size_t{1} << 30;

  static bool is_long(std::size_t bytes) { return bytes + before > piece_bytes * most_pieces; }

  enum class way { comes, goes };

  struct post {
    way is;
    int process;
    std::size_t bytes;
    std::byte* memory; ///< the header, and the payload unless it is elsewhere; shared by equal messages
    std::byte* data;   ///< the payload
    bool is_first_done = true;
    transfer first{}; ///< mostly the only one
    runtime::recycled_vector<transfer> others{};

    header& head() { return *reinterpret_cast<header*>(memory); }

    /// Begins the messages that a post consists of, each by `one(data, bytes)`.
    template <class One> void begin(const One& one) {
      if (is_long(bytes)) {
        add(one(memory, sizeof(header)));
        in_pieces(data, bytes, longest_message, one);
      } else {
        in_pieces(memory, bytes + before, piece_bytes, one);
      }
    }
    template <class One> void in_pieces(std::byte* from, std::size_t total, std::size_t most, const One& one) {
      for (std::size_t at = 0; at < total; at += most) add(one(from + at, std::min(most, total - at)));
    }
    void add(const transfer& begun) {
      if (std::exchange(is_first_done, false)) first = begun;
      else others.push_back(begun);
    }
    bool is_done(transport& by) {
      while (!others.empty() && by.is_done(others.back())) others.pop_back();
      if (!is_first_done) is_first_done = by.is_done(first);
      return is_delivered();
    }
    bool is_delivered() const { return is_first_done && others.empty(); }
  };

  std::byte* add(way is, int process, std::size_t bytes, std::byte* elsewhere) {
    std::byte* const begin = memory_of(elsewhere == nullptr ? bytes + before : sizeof(header));
    std::byte* const data = elsewhere == nullptr ? begin + before : elsewhere;
    posts.push_back({is, process, bytes, begin, data});
    return data;
  }
  /// Short messages lie in one block of memory together.
  std::byte* memory_of(std::size_t bytes) {
    bytes = (bytes + before - 1) / before * before;
    if (bytes > block_bytes / 4) return memory.emplace_back(buffer::allocate(bytes)).data();
    if (bytes > left_of_block) {
      next_of_block = memory.emplace_back(buffer::allocate(block_bytes)).data();
      left_of_block = block_bytes;
    }
    left_of_block -= bytes;
    return std::exchange(next_of_block, next_of_block + bytes);
  }
  static constexpr std::size_t block_bytes = 4096 - sizeof(runtime::memory_block);

  /// Whether all are delivered.
  bool look() {
    bool done = true;
    for (post& each : posts) {
      if (each.is_delivered()) continue;
      try {
        done = each.is_done(all.by()) && done;
      } catch (const process_error& e) {
        all.read_notes(); // its failure may explain the end
        all.fail(e.process(), e.what(), true);
        throw;
      } catch (const error& e) {
        meet_other(each, e.what());
      }
    }
    return done;
  }
  void wait() {
    using clock = std::chrono::steady_clock;
    clock::time_point begin; // not read if messages come at once
    for (std::uint64_t looked = 0;; ++looked) {
      if (look()) return;
      if (looked < all.patience()) continue;
      if (looked == all.patience()) begin = clock::now();
      if (looked % looks_between_notes == 0) {
        all.read_notes();
        look_for_ended();
        if (all.timeout().count() > 0 && clock::now() - begin > all.timeout()) miss();
      }
      std::this_thread::yield();
    }
  }
  static constexpr std::uint64_t looks_between_notes = 64;

  /// A process that has ended its session sends no more; earlier messages may still arrive.
  void look_for_ended() {
    for (post& each : posts) {
      if (each.is_delivered() || !all.has_ended(each.process)) continue;
      for (int k = 0; k < looks_for_the_last && !each.is_delivered(); ++k) {
        look();
        std::this_thread::yield();
      }
      if (!each.is_delivered()) all.refuse_gone(each.process, std::string(name));
    }
  }
  static constexpr int looks_for_the_last = 10000;

  [[noreturn]] void miss() {
    std::vector<int> arrived, missing;
    for (const post& each : posts)
      if (each.is == way::comes) (each.is_delivered() ? arrived : missing).push_back(each.process);
    for (const post& each : posts)
      if (each.is == way::goes && !each.is_delivered() &&
          std::find(missing.begin(), missing.end(), each.process) == missing.end())
        missing.push_back(each.process);
    all.miss(process_timeout(all.index(), std::string(name), number,
                             std::chrono::duration<double>(all.timeout()).count(), std::move(arrived),
                             std::move(missing)));
  }
  void check(post& each) const {
    const header& got = each.head();
    if (got.stamp == stamp && got.bytes == each.bytes) return;
    meet_other(each, "of " + std::to_string(got.bytes) + " bytes");
  }
  [[noreturn]] void meet_other(const post& each, const std::string& what) const {
    const std::string text = "process " + std::to_string(all.index()) + ": " + std::string(name) +
                             " (exchange number " + std::to_string(number) + " between processes) of " +
                             std::to_string(each.bytes) + " bytes met something else of process " +
                             std::to_string(each.process) + ", " + what +
                             ": all processes must call the same programs in the same order";
    all.fail(each.process, text, true);
    throw process_error(each.process, text);
  }

  world& all;
  int tag;
  std::string_view name;
  std::uint64_t number, stamp;
  runtime::recycled_vector<post> posts;
  runtime::recycled_vector<buffer> memory;
  std::byte* next_of_block = nullptr;
  std::size_t left_of_block = 0;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::processes
