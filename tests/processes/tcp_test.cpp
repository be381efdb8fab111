// Processes that meet by TCP: those that come late, not at all, twice, or are something else. Threads stand for them.
#include <parallax/distributed/tcp.hpp>

#include "processes/tcp_ports.hpp"
#include "support/test.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace tcp_test {

namespace {

using namespace parallax::distributed::detail;
using std::chrono::milliseconds;
using tcp_ports::free_port, tcp_ports::in;

std::string met(int index, int count, int port, milliseconds time, const std::string& secret = {}) {
  try {
    const tcp_meeting made(index, count, "localhost", port, in(time), secret);
    return "met";
  } catch (const parallax::error& e) {
    return e.what();
  }
}
std::future<std::string> meets(int index, int count, int port, milliseconds time = milliseconds(20000),
                               const std::string& secret = {}) {
  return std::async(std::launch::async, [=] { return met(index, count, port, time, secret); });
}

} // namespace

TEST_CASE("processes meet in any order") {
  const int port = free_port();
  auto third = meets(2, 4, port), second = meets(1, 4, port);
  std::this_thread::sleep_for(milliseconds(50)); // process 0 is late
  auto first = meets(0, 4, port), last = meets(3, 4, port);
  CHECK(first.get() == "met");
  CHECK(second.get() == "met");
  CHECK(third.get() == "met");
  CHECK(last.get() == "met");
}

TEST_CASE("who does not come is named") {
  const int port = free_port();
  auto first = meets(0, 4, port, milliseconds(300)), third = meets(2, 4, port, milliseconds(300));
  CHECK(first.get() == "distributed: process 0 waited for processes that did not come: 1, 3");
  CHECK(third.get().find("distributed: process 0 has gone, or not all of the 4 processes came in time") == 0);
  CHECK(met(1, 2, free_port(), milliseconds(100)).find("does not answer: Connection refused") != std::string::npos);
}

TEST_CASE("who comes twice, or is of another number, is sent away") {
  const int port = free_port();
  auto first = meets(0, 3, port);
  auto second = meets(1, 3, port);
  std::this_thread::sleep_for(milliseconds(100));
  CHECK(met(1, 3, port, milliseconds(5000)) ==
        "distributed: process 0 does not want process 1 of 3: it is one of 3, and "
        "each is to come once");
  CHECK(met(2, 5, port, milliseconds(5000)) ==
        "distributed: process 0 does not want process 2 of 5: it is one of 3, and "
        "each is to come once");
  auto third = meets(2, 3, port);
  CHECK(first.get() == "met");
  CHECK(second.get() == "met");
  CHECK(third.get() == "met");
}

TEST_CASE("a port that is taken, and addresses that are none") {
  const tcp_socket taken = tcp_socket::listening(0);
  CHECK(met(0, 2, taken.port(), milliseconds(100)) ==
        "distributed: port " + std::to_string(taken.port()) + " cannot be listened on: Address already in use");
  for (const char* wrong : {"", "host", ":80", "host:", "host:0", "host:65536", "host:80x"})
    CHECK_THROWS_AS(parts_of_address(wrong), parallax::error);
  CHECK(parts_of_address("a.b:80") == std::pair<std::string, int>("a.b", 80));
}

TEST_CASE("a hundred thousand words that are no hello") {
  const int port = free_port();
  auto first = meets(0, 2, port, milliseconds(60000));
  std::mt19937 random(3);
  const in_addr_t here = address_of_host("localhost");
  for (int caller = 0; caller < 2000; ++caller) {
    const tcp_socket socket = tcp_socket::connected(here, port, in(milliseconds(20000)));
    // up to 100 words to a caller, some of which look like the beginning of a hello
    std::string bytes;
    const auto words = 1 + random() % 100;
    if (random() % 3 == 0) bytes.assign(tcp_hello{}.magic.data(), random() % 9);
    for (std::uint64_t k = 0; k < words; ++k) {
      const auto word = static_cast<std::uint32_t>(random());
      bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    // a whole hello of a number that does not belong here is answered, anything else is left alone
    static_cast<void>(socket.send_all(bytes.data(), bytes.size(), in(milliseconds(1000))));
  }
  auto second = meets(1, 2, port, milliseconds(60000));
  CHECK(first.get() == "met");
  CHECK(second.get() == "met");
}

TEST_CASE("digests are those of the standards") {
  const auto hex = [](const digest& bytes) {
    std::string text;
    for (const std::uint8_t each : bytes) {
      text += "0123456789abcdef"[each >> 4];
      text += "0123456789abcdef"[each & 15];
    }
    return text;
  };
  CHECK(hex(sha256().end()) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex(sha256().add("abc").end()) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256().add("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").end()) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hex(keyed_digest("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex(keyed_digest(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  digest one{}, other{};
  CHECK(are_equal_in_secret(one, other));
  for (std::uint8_t& each : other) {
    each = 1;
    CHECK_FALSE(are_equal_in_secret(one, other));
    each = 0;
  }
}

TEST_CASE("who does not know the secret is no process of the session") {
  const int port = free_port();
  auto first = meets(0, 3, port, milliseconds(60000), "ours");
  const std::string refusal = "distributed: what listens on localhost:" + std::to_string(port) +
                              " does not know this session's secret: give all processes the same PARALLAX_SECRET";
  CHECK(met(1, 3, port, milliseconds(60000), "theirs") == refusal);
  CHECK(met(1, 3, port, milliseconds(60000)) == refusal);
  auto second = meets(1, 3, port, milliseconds(60000), "ours"), third = meets(2, 3, port, milliseconds(60000), "ours");
  CHECK(first.get() == "met");
  CHECK(second.get() == "met");
  CHECK(third.get() == "met");
  // nor does a process join a session that knows less
  const int open_port = free_port();
  auto open = meets(0, 2, open_port, milliseconds(60000));
  CHECK(met(1, 2, open_port, milliseconds(60000), "ours").find("does not know this session's secret") !=
        std::string::npos);
  CHECK(met(1, 2, open_port, milliseconds(60000)) == "met");
  CHECK(open.get() == "met");
}

TEST_CASE("a hello that was heard cannot be said again") {
  const int port = free_port();
  auto first = meets(0, 2, port, milliseconds(60000), "ours");
  const in_addr_t here = address_of_host("localhost");
  const auto challenged = [&](const tcp_socket& by) {
    tcp_challenge asked;
    REQUIRE(by.receive_all(&asked, sizeof asked, in(milliseconds(20000))));
    return asked;
  };
  const auto answered = [&](const tcp_socket& by, const tcp_hello& hello) {
    tcp_answer answer;
    REQUIRE(by.send_all(&hello, sizeof hello, in(milliseconds(20000))));
    REQUIRE(by.receive_all(&answer, sizeof answer, in(milliseconds(20000))));
    return answer.reply;
  };
  tcp_hello hello{.index = 7, .count = 2, .nonce = {1, 2}};
  const tcp_socket heard = tcp_socket::connected(here, port, in(milliseconds(20000)));
  hello.proof = proof_of("ours", hello, hello.nonce, challenged(heard).nonce);
  CHECK(answered(heard, hello) == tcp_reply::unwanted); // signed, but nobody's number
  const tcp_socket again = tcp_socket::connected(here, port, in(milliseconds(20000)));
  challenged(again);
  CHECK(answered(again, hello) == tcp_reply::other_secret);
  const tcp_socket changed = tcp_socket::connected(here, port, in(milliseconds(20000)));
  hello.proof = proof_of("ours", hello, hello.nonce, challenged(changed).nonce);
  hello.index = 1;
  CHECK(answered(changed, hello) == tcp_reply::other_secret);
  CHECK(met(1, 2, port, milliseconds(60000), "ours") == "met");
  CHECK(first.get() == "met");
}

TEST_CASE("strangers who say nothing hold nobody up") {
  // sixty of them would have used up the default limit one after another, and ten this one
  const int port = free_port();
  auto first = meets(0, 3, port, milliseconds(40000));
  const in_addr_t here = address_of_host("localhost");
  std::vector<tcp_socket> strangers;
  for (int k = 0; k < 150; ++k) strangers.push_back(tcp_socket::connected(here, port, in(milliseconds(20000))));
  auto second = meets(1, 3, port, milliseconds(40000)), third = meets(2, 3, port, milliseconds(40000));
  CHECK(first.get() == "met");
  CHECK(second.get() == "met");
  CHECK(third.get() == "met");
}

TEST_CASE("a door stays open where no more files may be") {
  tcp_reception reception(tcp_socket::listening(0), "");
  const in_addr_t here = address_of_host("localhost");
  const tcp_socket caller = tcp_socket::connected(here, reception.port(), in(milliseconds(20000)));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(caller.descriptor()) + 1; // the next file would have this number
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const bool came = reception.next(in(milliseconds(100))).has_value();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_FALSE(came);
  auto next = std::async(std::launch::async, [&] { return reception.next(in(milliseconds(20000))).has_value(); });
  tcp_challenge asked;
  REQUIRE(caller.receive_all(&asked, sizeof asked, in(milliseconds(20000))));
  tcp_hello hello{.index = 1};
  hello.proof = proof_of("", hello, hello.nonce, asked.nonce);
  REQUIRE(caller.send_all(&hello, sizeof hello, in(milliseconds(20000))));
  CHECK(next.get());
}

TEST_CASE("a socket that is connected with itself is noticed") {
  const int number = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  REQUIRE(::bind(number, reinterpret_cast<const sockaddr*>(&name), size) == 0);
  REQUIRE(::getsockname(number, reinterpret_cast<sockaddr*>(&name), &size) == 0);
  REQUIRE(::connect(number, reinterpret_cast<const sockaddr*>(&name), size) == 0); // nobody listens, and yet
  CHECK(tcp_socket(number).is_to_itself());
  const tcp_socket door = tcp_socket::listening(0, htonl(INADDR_LOOPBACK));
  CHECK_FALSE(tcp_socket::connected(htonl(INADDR_LOOPBACK), door.port(), in(milliseconds(20000))).is_to_itself());
}

TEST_CASE("processes listen where the others call them") {
  const in_addr_t loopback = htonl(INADDR_LOOPBACK), any = htonl(INADDR_ANY);
  CHECK(address_to_listen_at("localhost", loopback) == loopback);
  CHECK(address_to_listen_at("127.0.0.1", loopback) == loopback);
  CHECK(address_to_listen_at("node0", htonl(0x0a000001)) == htonl(0x0a000001));
  CHECK(address_to_listen_at("node0", htonl(0x7f000101)) == any); // a host's own name on Debian
  const tcp_socket door = tcp_socket::listening(0, loopback);
  CHECK(door.own_address() == loopback);
}

} // namespace tcp_test
