// Deadlines from now on, and ports that nobody listens on, for tests of what goes by TCP.
#pragma once

#include <parallax/distributed/tcp.hpp>

#include <chrono>

namespace tcp_ports {

using namespace parallax::distributed::detail;
using std::chrono::milliseconds;

inline deadline in(milliseconds time) { return std::chrono::steady_clock::now() + time; }
/// A port that nobody listens on now.
inline int free_port() { return tcp_socket::listening(0).port(); }

} // namespace tcp_ports
