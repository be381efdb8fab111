// TCP sockets as values, with deadlines.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail {

/// A port cannot be listened on; `reason` is the system's number for it.
class listening_error : public error {
 public:
  listening_error(int port, int why)
      : error("distributed: port " + std::to_string(port) + " cannot be listened on: " + std::strerror(why)),
        reason(why) {}
  int reason;
};

using deadline = std::chrono::steady_clock::time_point;

/// A socket, which is closed with its last value. Calls without a deadline do not wait.
class tcp_socket {
 public:
  tcp_socket() = default;
  explicit tcp_socket(int opened) : number(opened) { ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) | O_NONBLOCK); }
  ~tcp_socket() {
    if (number >= 0) ::close(number);
  }
  tcp_socket(tcp_socket&& other) noexcept : number(std::exchange(other.number, -1)) {}
  tcp_socket& operator=(tcp_socket&& other) noexcept {
    std::swap(number, other.number);
    return *this;
  }

  explicit operator bool() const noexcept { return number >= 0; }
  int descriptor() const noexcept { return number; }

  /// Listens on a port (0: any free one) at one address of this machine, or at all of them. Throws `error`.
  static tcp_socket listening(int port, in_addr_t at = htonl(INADDR_ANY)) {
    tcp_socket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    ::setsockopt(made.number, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in address = name_of(at, port);
    if (!made || ::bind(made.number, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(made.number, SOMAXCONN) != 0)
      throw listening_error(port, errno);
    return made;
  }
  int port() const { return ntohs(own_name().sin_port); }
  /// This side's address, and the other side's, as numbers in the network's order.
  in_addr_t own_address() const { return own_name().sin_addr.s_addr; }
  in_addr_t peer() const { return peer_name().sin_addr.s_addr; }

  /// Whether the other side is on this host: then both have one address.
  bool is_on_host() const { return own_address() == peer(); }
  /// Whether it is connected with itself: the system may give a socket the port that it connects to.
  bool is_to_itself() const { return is_on_host() && own_name().sin_port == peer_name().sin_port; }

  /// A connection that has come, if there is one. If no more files may be open, it sleeps for a moment, so that a
  /// caller which tries again and again leaves the processor to others.
  std::optional<tcp_socket> accept_now() const {
    const int came = ::accept4(number, nullptr, nullptr, SOCK_CLOEXEC);
    if (came < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return {};
    }
    tcp_socket made(came);
    made.send_at_once();
    return made;
  }
  /// Connects, again and again until the other side listens. Throws `error` at the deadline.
  static tcp_socket connected(in_addr_t host, int port, deadline until) {
    const sockaddr_in address = name_of(host, port);
    int why = 0;
    do {
      tcp_socket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const int began = ::connect(made.number, reinterpret_cast<const sockaddr*>(&address), sizeof address);
      why = began == 0 ? 0 : errno;
      if (why == EINPROGRESS && made.wait(POLLOUT, until)) {
        socklen_t size = sizeof why;
        ::getsockopt(made.number, SOL_SOCKET, SO_ERROR, &why, &size);
      }
      if (why == 0 && made.is_to_itself()) why = ECONNREFUSED; // nobody listens, in that case
      if (why == 0) {
        made.send_at_once();
        return made;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } while (std::chrono::steady_clock::now() < until);
    throw error("distributed: port " + std::to_string(port) + " does not answer: " + std::strerror(why));
  }

  /// Receives, or sends, all bytes before the deadline. Returns whether it could.
  bool receive_all(void* data, std::size_t bytes, deadline until) const {
    return move_all(bytes, POLLIN, until,
                    [&](std::size_t at) { return receive(static_cast<char*>(data) + at, bytes - at); });
  }
  bool send_all(const void* data, std::size_t bytes, deadline until) const {
    return move_all(bytes, POLLOUT, until,
                    [&](std::size_t at) { return send(static_cast<const char*>(data) + at, bytes - at); });
  }
  /// The bytes that can be read now; `none` if the other side has closed.
  std::optional<std::size_t> receive(void* data, std::size_t bytes) const {
    return moved(::recv(number, data, bytes, 0), true);
  }
  std::optional<std::size_t> send(const void* data, std::size_t bytes) const {
    return moved(::send(number, data, bytes, MSG_NOSIGNAL), false);
  }

 private:
  int number = -1;

  static sockaddr_in name_of(in_addr_t host, int port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = host;
    name.sin_port = htons(static_cast<in_port_t>(port));
    return name;
  }
  sockaddr_in own_name() const {
    sockaddr_in name{};
    socklen_t size = sizeof name;
    ::getsockname(number, reinterpret_cast<sockaddr*>(&name), &size);
    return name;
  }
  sockaddr_in peer_name() const {
    sockaddr_in name{};
    socklen_t size = sizeof name;
    ::getpeername(number, reinterpret_cast<sockaddr*>(&name), &size);
    return name;
  }

  /// `some(at)` moves some of the bytes from number `at` on.
  template <class Some> bool move_all(std::size_t bytes, short events, deadline until, const Some& some) const {
    for (std::size_t at = 0; at < bytes;) {
      const std::optional<std::size_t> moved = some(at);
      if (!moved || (*moved == 0 && !wait(events, until))) return false;
      at += *moved;
    }
    return true;
  }
  void send_at_once() const {
    const int yes = 1;
    ::setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  static std::optional<std::size_t> moved(ssize_t count, bool nothing_is_the_end) {
    if (count > 0 || (count == 0 && !nothing_is_the_end)) return static_cast<std::size_t>(count);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return 0;
    return {};
  }
  bool wait(short events, deadline until) const {
    while (true) {
      pollfd what{number, events, 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
      if (left <= 0) return false;
      const int ready = ::poll(&what, 1, static_cast<int>(std::min<std::int64_t>(left, 1 << 30)));
      if (ready > 0 || (ready < 0 && errno != EINTR)) return ready > 0;
    }
  }
};

/// The address of a host by its name. Throws `error` if it has none.
inline in_addr_t address_of_host(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  if (status != 0 || found == nullptr)
    throw error("distributed: there is no host " + name + ": " + ::gai_strerror(status));
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof address);
  return address.sin_addr.s_addr;
}

inline bool is_loopback(in_addr_t address) { return (ntohl(address) >> 24) == 127; }

/// The address at which a process listens, if its name `host` has `address` here: this address alone. If it is a
/// loopback address, but `host` does not say so, all addresses: others may know another address of that name, as of a
/// host's own name on some systems.
inline in_addr_t address_to_listen_at(const std::string& host, in_addr_t address) {
  const bool is_meant = host == "localhost" || host.starts_with("127.");
  return is_loopback(address) && !is_meant ? htonl(INADDR_ANY) : address;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed::detail
