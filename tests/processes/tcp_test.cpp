// Processes that meet by TCP: those that come late, not at all, twice, or are something else. Threads stand for them.
#include <parallax/distributed/tcp.hpp>

#include "test.hpp"

#include <cstdio>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace tcp_test {

namespace {

using namespace parallax::distributed::detail;
using std::chrono::milliseconds;

deadline in(milliseconds time) { return std::chrono::steady_clock::now() + time; }
/// A port that nobody listens on now.
int free_port() { return tcp_socket::listening(0).port(); }

std::string met(int index, int count, int port, milliseconds time) {
  try {
    const tcp_meeting made(index, count, "localhost", port, in(time));
    return "met";
  } catch (const parallax::error& e) {
    return e.what();
  }
}
std::future<std::string> meets(int index, int count, int port, milliseconds time = milliseconds(20000)) {
  return std::async(std::launch::async, [=] { return met(index, count, port, time); });
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
  CHECK_THROWS_WITH(wait_for(*all[1], coming), "TCP: a message is longer than the 10 bytes that were expected");
  parallax::processes::transfer never = all[1]->receive(0, 0, small.data(), small.size());
  all[0].reset();
  CHECK_THROWS_WITH(wait_for(*all[1], never), "process 0 has closed its connection");
}

} // namespace tcp_test
