// The messages with which processes greet each other, and the list of connections that have not greeted yet.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/distributed/sha256.hpp>
#include <parallax/distributed/sockets.hpp>

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail {

using tcp_nonce = std::array<std::uint64_t, 2>;

/// Random numbers that have never been used before.
inline tcp_nonce new_nonce() {
  std::random_device chance;
  const auto word = [&] { return chance() | std::uint64_t{chance()} << 32; };
  return {word(), word()};
}

/// The first message of a process to a caller, who has to sign these numbers.
struct tcp_challenge {
  std::array<char, 8> magic{'p', 'l', 'x', 't', 'c', 'p', '0', '2'};
  tcp_nonce nonce{};

  bool is_one() const { return magic == tcp_challenge{}.magic; }
};
/// The caller's answer.
struct tcp_hello {
  std::array<char, 8> magic = tcp_challenge{}.magic;
  std::uint32_t index = 0, count = 0;
  std::uint32_t port = 0; ///< where the process listens for those of higher numbers
  std::uint32_t unused = 0;
  std::uint64_t token = 0; ///< of the session, once process 0 has sent it
  tcp_nonce nonce{};       ///< the numbers that process 0 has to sign
  digest proof{};

  bool is_one() const { return magic == tcp_challenge{}.magic; }
};
enum class tcp_reply : std::uint32_t { unwanted, accepted, other_secret };
/// The answer of process 0.
struct tcp_answer {
  std::array<char, 8> magic = tcp_challenge{}.magic;
  std::uint32_t count = 0;
  tcp_reply reply = tcp_reply::unwanted;
  std::uint64_t token = 0;
  digest proof{};

  bool is_one() const { return magic == tcp_challenge{}.magic; }
};
static_assert(sizeof(tcp_challenge) == 24 && sizeof(tcp_hello) == 80 && sizeof(tcp_answer) == 56, "no padding");

/// The digest, under the secret, of a message without its proof and of the numbers of both sides.
template <class Message>
digest proof_of(const std::string& secret, const Message& said, const tcp_nonce& callers, const tcp_nonce& doors) {
  std::string text(reinterpret_cast<const char*>(&said), sizeof said - sizeof said.proof);
  for (const tcp_nonce& each : {callers, doors}) text.append(reinterpret_cast<const char*>(&each), sizeof each);
  return keyed_digest(secret, text);
}

/// Listens, and reads from all connections at once: one that sends no bytes delays no other.
class tcp_reception {
 public:
  /// A connection whose hello is signed with the secret.
  struct arrival {
    tcp_socket socket;
    tcp_hello hello;
    tcp_nonce challenge;
  };

  tcp_reception(tcp_socket listening, std::string known) : door(std::move(listening)), secret(std::move(known)) {}

  int port() const { return door.port(); }

  /// The next such connection; `none` if there is none before the deadline. Connections with another greeting are
  /// closed.
  std::optional<arrival> next(deadline until) {
    while (true) {
      for (auto each = waiting.begin(); each != waiting.end();) {
        const bool stays = read(*each);
        if (stays && each->has < sizeof(tcp_hello)) {
          ++each;
          continue;
        }
        arrival come{std::move(each->socket), each->hello, each->challenge};
        each = waiting.erase(each);
        if (stays && is_signed(come)) return come;
      }
      if (!wait(until)) return {};
    }
  }

 private:
  struct guest {
    tcp_socket socket;
    deadline until;
    tcp_nonce challenge;
    tcp_hello hello{};
    std::size_t has = 0; ///< bytes of the hello
  };
  /// The most connections that wait. Beyond it the longest waiting one is closed: a process sends its hello at once.
  static constexpr std::size_t most_guests = 128;

  tcp_socket door;
  std::string secret;
  std::vector<guest> waiting;

  /// Reads the bytes of a hello that have come. Returns whether they may still become one.
  static bool read(guest& from) {
    while (from.has < sizeof(tcp_hello)) {
      const std::optional<std::size_t> got =
          from.socket.receive(reinterpret_cast<char*>(&from.hello) + from.has, sizeof(tcp_hello) - from.has);
      if (!got) return false;
      if (*got == 0) return std::chrono::steady_clock::now() < from.until;
      from.has += *got;
    }
    return from.hello.is_one();
  }
  bool is_signed(const arrival& come) const {
    if (are_equal_in_secret(come.hello.proof, proof_of(secret, come.hello, come.hello.nonce, come.challenge)))
      return true;
    const tcp_answer answer{.reply = tcp_reply::other_secret};
    static_cast<void>(come.socket.send(&answer, sizeof answer)); // a caller that does not listen is lost anyway
    return false;
  }

  /// Waits until a connection sends bytes or a new one comes; false at the deadline.
  bool wait(deadline until) {
    deadline first = until;
    std::vector<pollfd> all{{door.descriptor(), POLLIN, 0}};
    for (const guest& each : waiting) {
      all.push_back({each.socket.descriptor(), POLLIN, 0});
      first = std::min(first, each.until);
    }
    const deadline now = std::chrono::steady_clock::now();
    if (now >= until) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(first, now) - now).count();
    if (::poll(all.data(), all.size(), static_cast<int>(std::min<std::int64_t>(left, 1 << 30))) > 0 &&
        all[0].revents != 0)
      admit();
    return true;
  }
  void admit() {
    while (std::optional<tcp_socket> came = door.accept_now()) {
      const tcp_challenge challenge{.nonce = new_nonce()};
      if (came->send(&challenge, sizeof challenge) != sizeof challenge) continue;
      if (waiting.size() == most_guests) waiting.erase(waiting.begin());
      waiting.push_back(
          {std::move(*came), std::chrono::steady_clock::now() + std::chrono::seconds(10), challenge.nonce});
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail
