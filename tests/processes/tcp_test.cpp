// Processes that meet by TCP: those that come late, not at all, twice, or are something else. Threads stand for them.
#include <parallax/distributed/tcp.hpp>

#include "test.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace tcp_test {

namespace {

using namespace parallax::distributed::detail;
using std::chrono::milliseconds;

deadline in(milliseconds time) { return std::chrono::steady_clock::now() + time; }
/// A port that nobody listens on now.
int free_port() { return tcp_socket::listening(0).port(); }

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

std::vector<std::unique_ptr<tcp_transport>> connected(int count) {
  const int port = free_port();
  std::vector<std::future<std::unique_ptr<tcp_transport>>> coming;
  for (int index = 0; index < count; ++index)
    coming.push_back(std::async(std::launch::async, [=] {
      return std::make_unique<tcp_transport>(tcp_meeting(index, count, "localhost", port, in(milliseconds(20000))),
                                             index);
    }));
  std::vector<std::unique_ptr<tcp_transport>> all;
  for (auto& each : coming) all.push_back(each.get());
  return all;
}
void wait_for(tcp_transport& by, parallax::processes::transfer which) {
  while (!by.is_done(which)) std::this_thread::yield();
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

TEST_CASE("a message is given no more memory than has come, whatever its head says") {
  const auto says = [](std::uint32_t magic, std::uint64_t bytes) {
    const int port = free_port();
    auto coming = std::async(std::launch::async, [=] {
      return std::make_unique<tcp_meeting>(1, 2, "localhost", port, in(milliseconds(20000)));
    });
    tcp_transport by(tcp_meeting(0, 2, "localhost", port, in(milliseconds(20000))), 0);
    auto other = coming.get();
    std::string frame(16, '\0');
    std::memcpy(frame.data(), &magic, 4);
    std::memcpy(frame.data() + 8, &bytes, 8);
    frame += std::string(1000, 'x');
    REQUIRE(other->peers[0].send_all(frame.data(), frame.size(), in(milliseconds(20000))));
    other.reset(); // closes
    std::array<char, 10> data{};
    parallax::processes::transfer asked = by.receive(1, 0, data.data(), data.size());
    try {
      wait_for(by, asked);
    } catch (const parallax::error& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  constexpr std::uint32_t magic = 0x504c584d;
  const auto peak = [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss; // KiB
  };
  const long before = peak();
  CHECK(says(magic, std::uint64_t{1} << 33) == "process 1 has closed its connection");
  CHECK(says(magic, std::uint64_t{1} << 39) == "process 1 has closed its connection");
  CHECK(says(magic, (std::uint64_t{1} << 40) + 1) == "process 1 has sent what is no message");
  CHECK(says(magic, ~std::uint64_t{0}) == "process 1 has sent what is no message");
  CHECK(says(magic + 1, 10) == "process 1 has sent what is no message");
  CHECK(peak() - before < 256 * 1024);
}

TEST_CASE("messages of all sizes arrive in their order, whoever asks first") {
  const auto all = connected(3);
  std::mt19937 random(5);
  const auto byte_at = [](std::size_t message, std::size_t i) { return static_cast<char>(message * 31 + i * 7); };
  std::vector<std::vector<char>> sent, got;
  for (std::size_t k = 0; k < 300; ++k) {
    sent.emplace_back(random() % 5 == 0 ? 0 : random() % (1U << (random() % 20)));
    for (std::size_t i = 0; i < sent[k].size(); ++i) sent[k][i] = byte_at(k, i);
    got.emplace_back(sent[k].size());
  }
  std::thread receiver([&] {
    std::vector<parallax::processes::transfer> coming;
    for (std::size_t k = 0; k < got.size(); ++k)
      coming.push_back(all[1]->receive(0, static_cast<int>(k % 2), got[k].data(), got[k].size()));
    for (std::size_t k = coming.size(); k-- > 0;) wait_for(*all[1], coming[k]);
  });
  std::vector<parallax::processes::transfer> going;
  for (std::size_t k = 0; k < sent.size(); ++k)
    going.push_back(all[0]->send(1, static_cast<int>(k % 2), sent[k].data(), sent[k].size()));
  for (parallax::processes::transfer each : going) wait_for(*all[0], each);
  receiver.join();
  CHECK(got == sent);
  // what was not asked for can be seen
  const int note = 17;
  wait_for(*all[0], all[0]->send(2, 9, &note, sizeof note));
  int from = -1;
  std::size_t bytes = 0;
  while (!all[2]->has_come(9, from, bytes)) std::this_thread::yield();
  CHECK(from == 0);
  CHECK(bytes == sizeof note);
}

TEST_CASE("messages that are too long, and peers that go") {
  auto all = connected(2);
  const std::array<char, 100> data{};
  std::array<char, 10> small{};
  parallax::processes::transfer going = all[0]->send(1, 0, data.data(), data.size());
  parallax::processes::transfer coming = all[1]->receive(0, 0, small.data(), small.size());
  wait_for(*all[0], going);
  CHECK_THROWS_WITH(wait_for(*all[1], coming),
                    "TCP: a message of 100 bytes is longer than the 10 bytes that were expected");
  going = all[0]->send(1, 0, data.data(), 3);
  coming = all[1]->receive(0, 0, small.data(), small.size());
  wait_for(*all[0], going);
  CHECK_THROWS_WITH(wait_for(*all[1], coming),
                    "TCP: a message of 3 bytes is shorter than the 10 bytes that were expected");
  parallax::processes::transfer never = all[1]->receive(0, 0, small.data(), small.size());
  all[0].reset();
  CHECK_THROWS_WITH(wait_for(*all[1], never), "process 0 has closed its connection");
}

} // namespace tcp_test
