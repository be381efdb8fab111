// Messages between processes by TCP: of all sizes, in any order, and those that are none. Threads stand for the
// processes.
#include <parallax/distributed/tcp.hpp>

#include "processes/tcp_ports.hpp"
#include "support/test.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

namespace tcp_messages_test {

namespace {

using namespace parallax::distributed::detail;
using std::chrono::milliseconds;
using tcp_ports::free_port, tcp_ports::in;

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

} // namespace tcp_messages_test
