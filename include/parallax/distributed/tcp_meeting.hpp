// The meeting of processes that know the address of one of them.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/distributed/sockets.hpp>
#include <parallax/distributed/tcp_greeting.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail {

/// The secret that only the processes of a session know: PARALLAX_SECRET, or an empty one.
inline std::string session_secret() {
  const char* const text = std::getenv("PARALLAX_SECRET");
  return text == nullptr ? "" : text;
}

/// The address and port at which a process listens.
struct tcp_place {
  std::uint32_t address = 0, port = 0;
};

/// Connects all processes with each other: each calls process 0, which tells all of them where the others listen. All
/// messages are signed with the secret, also those of process 0; a caller without a valid one is sent away. Throws
/// `error`, which names the missing processes, if not all are there in time.
class tcp_meeting {
 public:
  std::vector<tcp_socket> peers; ///< by process
  std::vector<tcp_place> places; ///< by process, as process 0 sees it; not of process 0 itself

  tcp_meeting(int index, int count, const std::string& host, int port, deadline until, std::string known = {})
      : peers(index_of(count)),
        places(index_of(count)),
        own(index),
        total(count),
        limit(until),
        secret(std::move(known)) {
    if (index == 0) invite(host, port);
    else call(host, port);
  }

 private:
  int own, total;
  deadline limit;
  std::string secret;
  std::uint64_t token = 0;

  /// The address that the others call, if this machine has it. Behind some names, such as those of services, is another
  /// machine that forwards messages: then this process listens at all its addresses.
  static tcp_socket door_at(const std::string& host, int port) {
    const in_addr_t here = address_to_listen_at(host, address_of_host(host));
    try {
      return tcp_socket::listening(port, here);
    } catch (const listening_error& e) {
      if (e.reason != EADDRNOTAVAIL) throw;
      return tcp_socket::listening(port);
    }
  }
  void invite(const std::string& host, int port) {
    tcp_reception reception(door_at(host, port), secret);
    token = new_nonce()[0];
    for (int missing = total - 1; missing > 0;) {
      std::optional<tcp_reception::arrival> come = reception.next(limit);
      if (!come) refuse_late();
      const tcp_hello& hello = come->hello;
      const bool fits = std::cmp_equal(hello.count, total) && hello.index > 0 && std::cmp_less(hello.index, total) &&
                        !peers[hello.index];
      tcp_answer answer{.count = static_cast<std::uint32_t>(total),
                        .reply = fits ? tcp_reply::accepted : tcp_reply::unwanted,
                        .token = fits ? token : 0};
      answer.proof = proof_of(secret, answer, hello.nonce, come->challenge);
      if (come->socket.send(&answer, sizeof answer) != sizeof answer || !fits) continue;
      places[hello.index] = {come->socket.peer(), hello.port};
      peers[hello.index] = std::move(come->socket);
      --missing;
    }
    for (int other = 1; other < total; ++other)
      if (!peers[index_of(other)].send_all(places.data(), places.size() * sizeof(tcp_place), limit))
        throw error("distributed: process " + std::to_string(other) + " has gone while the others came");
  }
  /// Sends the number of this process. Returns the numbers that both sides have to sign, or `none` if the other side
  /// does not ask in the right way.
  struct introduction {
    tcp_nonce own, other;
  };
  std::optional<introduction> introduce(const tcp_socket& to, int door_port) const {
    tcp_challenge challenge;
    if (!to.receive_all(&challenge, sizeof challenge, limit) || !challenge.is_one()) return {};
    tcp_hello hello{.index = static_cast<std::uint32_t>(own),
                    .count = static_cast<std::uint32_t>(total),
                    .port = static_cast<std::uint32_t>(door_port),
                    .token = token,
                    .nonce = new_nonce()};
    hello.proof = proof_of(secret, hello, hello.nonce, challenge.nonce);
    if (!to.send_all(&hello, sizeof hello, limit)) return {};
    return introduction{hello.nonce, challenge.nonce};
  }
  void call(const std::string& host, int port) {
    const in_addr_t coordinator = address_of_host(host);
    tcp_socket first = tcp_socket::connected(coordinator, port, limit);
    tcp_reception reception(tcp_socket::listening(0, address_to_listen_at(host, first.own_address())), secret);
    const std::optional<introduction> said = introduce(first, reception.port());
    tcp_answer answer;
    if (!said || !first.receive_all(&answer, sizeof answer, limit) || !answer.is_one())
      throw error("distributed: what listens on " + host + ":" + std::to_string(port) + " is no process of this kind");
    if (answer.reply == tcp_reply::other_secret ||
        !are_equal_in_secret(answer.proof, proof_of(secret, answer, said->own, said->other)))
      throw error("distributed: what listens on " + host + ":" + std::to_string(port) +
                  " does not know this session's secret: give all processes the same PARALLAX_SECRET");
    if (answer.reply != tcp_reply::accepted)
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
      // a process that process 0 sees at its loopback address is on process 0's host
      tcp_socket made = tcp_socket::connected(is_loopback(there.address) ? coordinator : there.address,
                                              static_cast<int>(there.port), limit);
      if (!introduce(made, reception.port()))
        throw error("distributed: process " + std::to_string(other) + " has gone while the others came");
      peers[index_of(other)] = std::move(made);
    }
    for (int missing = total - 1 - own; missing > 0;) {
      std::optional<tcp_reception::arrival> come = reception.next(limit);
      if (!come) refuse_late();
      const tcp_hello& hello = come->hello;
      if (hello.token != token || !std::cmp_less(hello.index, total) || std::cmp_less_equal(hello.index, own) ||
          peers[hello.index])
        continue;
      peers[hello.index] = std::move(come->socket);
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

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail
