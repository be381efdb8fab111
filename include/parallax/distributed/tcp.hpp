// TCP between processes that find each other by the address of one of them, if there is no MPI. It carries whole
// programs, but more slowly than MPI.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/distributed/launch.hpp>
#include <parallax/distributed/sockets.hpp>
#include <parallax/distributed/tcp_meeting.hpp>
#include <parallax/processes/errors.hpp>
#include <parallax/processes/transport.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail {

/// Messages over the connections of a meeting.
class tcp_transport final : public processes::transport {
 public:
  tcp_transport(tcp_meeting met, int index) : own(index) {
    for (tcp_socket& each : met.peers) all.push_back(peer{std::move(each)});
    for (int other = 0; other < count(); ++other) {
      const peer& there = all[index_of(other)];
      if (!there.socket || !there.socket.is_on_host()) continue;
      ++on_host;
      if (other < own) ++before_on_host;
    }
  }

  int index() const noexcept override { return own; }
  int count() const noexcept override { return count_of(all); }
  int count_on_host() const noexcept override { return on_host; }
  int index_on_host() const noexcept override { return before_on_host; }
  std::string_view name() const noexcept override { return "TCP"; }

  processes::transfer send(int to, int tag, const void* data, std::size_t bytes) override {
    std::lock_guard lock(mutex);
    peer& there = all[index_of(to)];
    there.going.push_back({{frame_magic, static_cast<std::uint32_t>(tag), bytes}, data, 0, next_number});
    write(there);
    return transfer_of(to, next_number++, true);
  }
  processes::transfer receive(int from, int tag, void* data, std::size_t bytes) override {
    std::lock_guard lock(mutex);
    all[index_of(from)].wanted.push_back({tag, data, bytes, next_number});
    return transfer_of(from, next_number++, false);
  }
  bool is_done(processes::transfer& which) override {
    std::lock_guard lock(mutex);
    handle of;
    std::memcpy(&of, which.handle, sizeof of);
    peer& there = all[of.process];
    write(there), read(there), match(there);
    bool open = false;
    if (of.sends != 0) {
      for (const outgoing& each : there.going) open = open || each.number == of.number;
    } else {
      for (const incoming& each : there.wanted) open = open || each.number == of.number;
      for (const misfit& each : there.misfits)
        if (each.number == of.number)
          throw error("TCP: a message of " + std::to_string(each.come) + " bytes is " +
                      (each.come > each.expected ? "longer" : "shorter") + " than the " +
                      std::to_string(each.expected) + " bytes that were expected");
    }
    if (open && (of.sends != 0 ? there.is_deaf || there.is_closed : there.is_closed))
      throw process_error(static_cast<int>(of.process), "process " + std::to_string(of.process) + " " + there.why);
    return !open;
  }
  bool has_come(int tag, int& from, std::size_t& bytes) override {
    std::lock_guard lock(mutex);
    for (int other = 0; other < count(); ++other) {
      peer& there = all[index_of(other)];
      if (other == own) continue;
      write(there), read(there), match(there);
      for (const message& each : there.come)
        if (each.tag == tag) {
          from = other;
          bytes = each.content.size();
          return true;
        }
    }
    return false;
  }
  bool is_gone(int process) const noexcept override {
    std::lock_guard lock(mutex);
    return all[index_of(process)].is_closed;
  }
  [[noreturn]] void abort(int code) noexcept override { std::_Exit(code); }
  void close() override {}

 private:
  static constexpr std::uint32_t frame_magic = 0x504c584d;

  struct frame {
    std::uint32_t magic, tag;
    std::uint64_t bytes;
  };
  struct outgoing {
    frame head;
    const void* data;
    std::size_t sent; ///< of head and data together
    std::uint32_t number;
  };
  struct incoming {
    int tag;
    void* data;
    std::size_t bytes;
    std::uint32_t number;
  };
  /// A message whose length differs from the expected one.
  struct misfit {
    std::uint32_t number;
    std::size_t expected, come;
  };
  struct message {
    int tag;
    std::vector<std::byte> content;
  };
  struct peer {
    tcp_socket socket;
    std::deque<outgoing> going;
    std::vector<incoming> wanted;
    std::vector<misfit> misfits;
    std::deque<message> come; ///< the messages that have come and are not asked for yet
    frame head{};
    std::size_t head_bytes = 0, content_bytes = 0; ///< of the message that is being read
    std::vector<std::byte> content;
    bool is_closed = false, is_deaf = false; ///< the other side sends, or receives, no more
    std::string why = "has closed its connection";

    explicit peer(tcp_socket connected) : socket(std::move(connected)) {}
  };
  struct handle {
    std::uint32_t process, number, sends;
  };

  mutable std::mutex mutex;
  std::vector<peer> all;
  int own, on_host = 1, before_on_host = 0;
  std::uint32_t next_number = 0;

  static processes::transfer transfer_of(int process, std::uint32_t number, bool sends) {
    const handle of{static_cast<std::uint32_t>(process), number, sends ? 1U : 0U};
    processes::transfer result{};
    static_assert(sizeof of <= sizeof result.handle);
    std::memcpy(result.handle, &of, sizeof of);
    return result;
  }

  static void write(peer& there) {
    while (!there.going.empty() && !there.is_deaf) {
      outgoing& first = there.going.front();
      const bool in_head = first.sent < sizeof(frame);
      const std::size_t at = in_head ? first.sent : first.sent - sizeof(frame);
      const char* from = in_head ? reinterpret_cast<const char*>(&first.head) : static_cast<const char*>(first.data);
      const std::size_t left = (in_head ? sizeof(frame) : static_cast<std::size_t>(first.head.bytes)) - at;
      if (left > 0) {
        const std::optional<std::size_t> sent = there.socket.send(from + at, left);
        if (!sent) there.is_deaf = true; // the messages that it has sent can still be read
        if (!sent || *sent == 0) return;
        first.sent += *sent;
      }
      if (first.sent == sizeof(frame) + first.head.bytes) there.going.pop_front();
    }
  }
  static void read(peer& there) {
    while (!there.is_closed) {
      if (there.head_bytes < sizeof(frame)) {
        const std::optional<std::size_t> got = there.socket.receive(
            reinterpret_cast<char*>(&there.head) + there.head_bytes, sizeof(frame) - there.head_bytes);
        if (!got) there.is_closed = true;
        if (!got || *got == 0) return;
        there.head_bytes += *got;
        if (there.head_bytes < sizeof(frame)) continue;
        if (there.head.magic != frame_magic || there.head.bytes > most_bytes) {
          close(there, "has sent what is no message");
          return;
        }
      }
      if (there.content_bytes < there.head.bytes) {
        if (!make_room(there)) return;
        const std::optional<std::size_t> got = there.socket.receive(there.content.data() + there.content_bytes,
                                                                    there.content.size() - there.content_bytes);
        if (!got) there.is_closed = true;
        if (!got || *got == 0) return;
        there.content_bytes += *got;
      }
      if (there.content_bytes < there.head.bytes) continue;
      there.come.push_back({static_cast<int>(there.head.tag), std::exchange(there.content, {})});
      there.head_bytes = there.content_bytes = 0;
    }
  }
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
  static constexpr std::size_t first_bytes = std::size_t{1} << 20;

  static void close(peer& there, std::string why) {
    there.is_closed = true;
    there.why = std::move(why);
    there.content = {};
  }
  /// Allocates at most twice the part of a message that has come, because the size in its header may be wrong.
  static bool make_room(peer& there) {
    if (there.content_bytes < there.content.size()) return true;
    const std::size_t size = std::max(first_bytes, 2 * there.content_bytes);
    try {
      there.content.resize(static_cast<std::size_t>(std::min<std::uint64_t>(there.head.bytes, size)));
      return true;
    } catch (const std::bad_alloc&) {
      close(there, "sends a message of " + std::to_string(there.head.bytes) + " bytes, for which there is no memory");
      return false;
    }
  }
  /// A message goes to the receiver that asked first.
  static void match(peer& there) {
    for (auto each = there.come.begin(); each != there.come.end();) {
      const auto asked = std::find_if(there.wanted.begin(), there.wanted.end(),
                                      [&](const incoming& one) { return one.tag == each->tag; });
      if (asked == there.wanted.end()) {
        ++each;
        continue;
      }
      if (each->content.size() != asked->bytes)
        there.misfits.push_back({asked->number, asked->bytes, each->content.size()});
      else if (!each->content.empty()) std::memcpy(asked->data, each->content.data(), each->content.size());
      there.wanted.erase(asked);
      each = there.come.erase(each);
    }
  }
};

/// "host:port" in its parts. Throws `error` for something else.
inline std::pair<std::string, int> parts_of_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  int port = 0;
  if (colon != std::string::npos && colon > 0) {
    const auto [end, status] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
    if (status == std::errc{} && end == text.data() + text.size() && port > 0 && port < 65536)
      return {text.substr(0, colon), port};
  }
  throw error("distributed: the coordinator is to be given as host:port, but it is \"" + text + "\"");
}

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail
