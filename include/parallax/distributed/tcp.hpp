// Processes that find each other by the address of one of them, and speak TCP: where there is no MPI. It carries whole
// programs, more slowly than MPI does.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/distributed/launch.hpp>
#include <parallax/distributed/sockets.hpp>
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
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::distributed::detail {

/// What a process says first when it connects to another.
struct tcp_hello {
  std::array<char, 8> magic{'p', 'l', 'x', 't', 'c', 'p', '0', '1'};
  std::uint32_t index = 0, count = 0;
  std::uint32_t port = 0; ///< where it listens for those of higher numbers
  std::uint32_t accepted = 0;
  std::uint64_t token = 0; ///< of the session, once process 0 has said it

  bool is_one() const { return magic == tcp_hello{}.magic; }
};
/// Where a process listens.
struct tcp_place {
  std::uint32_t address = 0, port = 0;
};

/// Connects all processes with each other: each calls process 0, which tells all where the others are. Whoever says
/// something else is sent away. Throws `error` where not all are there in time, naming who is missing.
class tcp_meeting {
 public:
  std::vector<tcp_socket> peers; ///< by process
  std::vector<tcp_place> places; ///< by process, as process 0 sees them; none of itself

  tcp_meeting(int index, int count, const std::string& host, int port, deadline until)
      : peers(index_of(count)), places(index_of(count)), own(index), total(count), limit(until) {
    if (index == 0) invite(port);
    else call(host, port);
  }

 private:
  int own, total;
  deadline limit;
  std::uint64_t token = 0;

  /// A hello may take so long; another caller may come meanwhile.
  deadline soon() const { return std::min(limit, std::chrono::steady_clock::now() + std::chrono::seconds(5)); }

  void invite(int port) {
    const tcp_socket door = tcp_socket::listening(port);
    token = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32;
    for (int missing = total - 1; missing > 0;) {
      std::optional<tcp_socket> came = door.accept(limit);
      if (!came) refuse_late();
      tcp_hello hello;
      if (!came->receive_all(&hello, sizeof hello, soon()) || !hello.is_one()) continue;
      const bool fits = std::cmp_equal(hello.count, total) && hello.index > 0 && std::cmp_less(hello.index, total) &&
                        !peers[hello.index];
      tcp_hello answer{.count = static_cast<std::uint32_t>(total), .accepted = fits ? 1U : 0U, .token = token};
      if (!came->send_all(&answer, sizeof answer, soon()) || !fits) continue;
      places[hello.index] = {came->peer(), hello.port};
      peers[hello.index] = std::move(*came);
      --missing;
    }
    for (int other = 1; other < total; ++other)
      if (!peers[index_of(other)].send_all(places.data(), places.size() * sizeof(tcp_place), limit))
        throw error("distributed: process " + std::to_string(other) + " has gone while the others came");
  }
  void call(const std::string& host, int port) {
    const tcp_socket door = tcp_socket::listening(0);
    const in_addr_t coordinator = address_of_host(host);
    const tcp_hello hello{.index = static_cast<std::uint32_t>(own),
                          .count = static_cast<std::uint32_t>(total),
                          .port = static_cast<std::uint32_t>(door.port())};
    tcp_socket first = tcp_socket::connected(coordinator, port, limit);
    tcp_hello answer;
    if (!first.send_all(&hello, sizeof hello, limit) || !first.receive_all(&answer, sizeof answer, limit) ||
        !answer.is_one())
      throw error("distributed: what listens on " + host + ":" + std::to_string(port) + " is no process of this kind");
    if (answer.accepted == 0)
      throw error("distributed: process 0 does not want process " + std::to_string(own) + " of " +
                  std::to_string(total) + ": it is one of " + std::to_string(answer.count) +
                  ", and each is to come once");
    token = answer.token;
    if (!first.receive_all(places.data(), places.size() * sizeof(tcp_place), limit))
      throw error("distributed: process 0 has gone, or not all of the " + std::to_string(total) +
                  " processes came in time");
    peers[0] = std::move(first);
    for (int other = 1; other < own; ++other) {
      const tcp_place& there = places[index_of(other)];
      // one that process 0 sees at its loopback is on process 0's host
      const bool is_beside_first = (ntohl(there.address) >> 24) == 127;
      tcp_socket made =
          tcp_socket::connected(is_beside_first ? coordinator : there.address, static_cast<int>(there.port), limit);
      tcp_hello again = hello;
      again.token = token;
      if (!made.send_all(&again, sizeof again, limit))
        throw error("distributed: process " + std::to_string(other) + " has gone while the others came");
      peers[index_of(other)] = std::move(made);
    }
    for (int missing = total - 1 - own; missing > 0;) {
      std::optional<tcp_socket> came = door.accept(limit);
      if (!came) refuse_late();
      tcp_hello other;
      if (!came->receive_all(&other, sizeof other, soon()) || !other.is_one() || other.token != token) continue;
      if (!std::cmp_less(other.index, total) || std::cmp_less_equal(other.index, own) || peers[other.index]) continue;
      peers[other.index] = std::move(*came);
      --missing;
    }
  }
  [[noreturn]] void refuse_late() const {
    std::string missing;
    for (int other = 0; other < total; ++other)
      if (other != own && !peers[index_of(other)]) missing += (missing.empty() ? "" : ", ") + std::to_string(other);
    throw error("distributed: process " + std::to_string(own) + " waited for processes that did not come: " + missing);
  }
};

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
      for (const incoming& each : there.too_short)
        if (each.number == of.number)
          throw error("TCP: a message is longer than the " + std::to_string(each.bytes) + " bytes that were expected");
    }
    if (open && (of.sends != 0 ? there.is_deaf || there.is_closed : there.is_closed))
      throw process_error(static_cast<int>(of.process),
                          "process " + std::to_string(of.process) + " has closed its connection");
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
  struct message {
    int tag;
    std::vector<std::byte> content;
  };
  struct peer {
    tcp_socket socket;
    std::deque<outgoing> going;
    std::vector<incoming> wanted, too_short;
    std::deque<message> come; ///< which nobody has asked for yet
    frame head{};
    std::size_t head_bytes = 0, content_bytes = 0; ///< of the message that is being read
    std::vector<std::byte> content;
    bool is_closed = false, is_deaf = false; ///< it says, or hears, no more

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
        if (!sent) there.is_deaf = true; // what it has said can still be read
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
        if (there.head.magic != frame_magic || there.head.bytes > std::uint64_t{1} << 40) {
          there.is_closed = true; // it is no process of this kind
          return;
        }
        there.is_closed = true; // unless there is memory for it
        there.content.resize(static_cast<std::size_t>(there.head.bytes));
        there.is_closed = false;
      }
      if (there.content_bytes < there.content.size()) {
        const std::optional<std::size_t> got = there.socket.receive(there.content.data() + there.content_bytes,
                                                                    there.content.size() - there.content_bytes);
        if (!got) there.is_closed = true;
        if (!got || *got == 0) return;
        there.content_bytes += *got;
      }
      if (there.content_bytes < there.content.size()) continue;
      there.come.push_back({static_cast<int>(there.head.tag), std::exchange(there.content, {})});
      there.head_bytes = there.content_bytes = 0;
    }
  }
  /// Messages go to those who asked first.
  static void match(peer& there) {
    for (auto each = there.come.begin(); each != there.come.end();) {
      const auto asked = std::find_if(there.wanted.begin(), there.wanted.end(),
                                      [&](const incoming& one) { return one.tag == each->tag; });
      if (asked == there.wanted.end()) {
        ++each;
        continue;
      }
      if (each->content.size() > asked->bytes) there.too_short.push_back(*asked);
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

} // namespace parallax::distributed::detail
