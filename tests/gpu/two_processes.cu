// NCCL between two processes that share a GPU. NCCL refuses that to ranks of one host, so each process is told that it
// is another host, and they talk over the loopback network.
#include "two_processes.hpp"

#include "device_array.cuh"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace gpu {
namespace {

using parallax::element_type;
using parallax::cuda::reduction_kind;

constexpr int processes = 2;

/// Both ends of a pipe; rank 0 writes NCCL's identifier, the others read it.
using pipe_ends = std::array<int, 2>;

api::clique_id exchange_id(int rank, const pipe_ends& ends) {
  api::clique_id id;
  if (rank == 0) {
    ok(api::create_clique_id(id));
    require(write(ends[1], &id, sizeof id) == sizeof id, "the identifier is written");
  } else {
    require(read(ends[0], &id, sizeof id) == sizeof id, "the identifier is read");
  }
  return id;
}

void set_environment(int rank) {
  const std::string host = "parallax-" + std::to_string(rank);
  const std::pair<const char*, const char*> settings[] = {
      {"NCCL_HOSTID", host.c_str()}, {"NCCL_NET", "Socket"},     {"NCCL_SOCKET_IFNAME", "lo"},
      {"NCCL_IB_DISABLE", "1"},      {"NCCL_P2P_DISABLE", "1"},  {"NCCL_SHM_DISABLE", "1"},
      {"NCCL_NVLS_ENABLE", "0"},     {"NCCL_MNNVL_ENABLE", "0"}, {"NCCL_RAS_ENABLE", "0"},
      {"NCCL_MAX_CTAS", "2"},        {"NCCL_DEBUG", "WARN"}};
  for (const auto& [name, value] : settings) require(setenv(name, value, 1) == 0, name);
}

void settle(api::communicator with) {
  wait_until([&] { return is_ready(api::communicator_state(with)); });
}

void run_rank(int rank, const pipe_ends& ends) {
  set_environment(rank);
  const api::clique_id id = exchange_id(rank, ends);
  const queue on;
  std::array<api::communicator, 1> own{};
  const std::array<int, 1> device{}, ranks{rank};
  ok(api::join_clique(own, device, ranks, processes, id));
  const api::communicator with = own[0];
  settle(with);

  constexpr std::size_t count = 1000;
  std::array<std::vector<float>, processes> all;
  for (unsigned each = 0; each < processes; ++each) all[each] = numbers<float>(processes * count, each + 1);
  const std::vector<float>& mine = all[static_cast<std::size_t>(rank)];
  std::vector<float> sums = all[0], both = all[0];
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += all[1][i];
  both.insert(both.end(), all[1].begin(), all[1].end());
  const auto part = sums.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rank) * count);
  const int peer = 1 - rank;
  for (int round = 0; round < 5; ++round) {
    const device_array<float> from(on, mine), reduced(on, mine.size()), gathered(on, both.size()), scattered(on, count),
        received(on, mine.size());
    const auto f32 = element_type::float32;
    ok(api::group_start());
    ok(api::all_reduce(from.data(), reduced.data(), mine.size(), f32, reduction_kind::sum, with, on.get()));
    ok(api::all_gather(from.data(), gathered.data(), mine.size(), f32, with, on.get()));
    ok(api::reduce_scatter(from.data(), scattered.data(), count, f32, reduction_kind::sum, with, on.get()));
    ok(api::send(from.data(), mine.size(), f32, peer, with, on.get()));
    ok(api::receive(received.data(), mine.size(), f32, peer, with, on.get()));
    is_ready(api::group_end());
    settle(with);
    require(reduced.values() == sums, "all_reduce");
    require(gathered.values() == both, "all_gather");
    require(scattered.values() == std::vector<float>(part, part + count), "reduce_scatter");
    require(received.values() == all[static_cast<std::size_t>(peer)], "send and receive");
  }
  ok(api::destroy_communicator(with));
}

/// The exit status of a rank.
int rank_main(int rank, const pipe_ends& ends) {
  try {
    run_rank(rank, ends);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rank %d: %s\n", rank, failure.what());
    return 1;
  }
}

} // namespace

bool two_processes_agree() {
  pipe_ends ends{};
  require(pipe(ends.data()) == 0, "a pipe");
  std::array<pid_t, processes> children{};
  for (int rank = 0; rank < processes; ++rank) {
    const pid_t child = fork();
    require(child >= 0, "a process");
    if (child == 0) std::_Exit(rank_main(rank, ends));
    children[static_cast<std::size_t>(rank)] = child;
  }
  close(ends[0]);
  close(ends[1]);
  bool agree = true;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(50);
  for (pid_t child : children) {
    int result = 0;
    while (waitpid(child, &result, WNOHANG) == 0) {
      // the peer of one that failed waits in vain
      if (!agree || std::chrono::steady_clock::now() > limit) {
        agree = false;
        kill(child, SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    agree = agree && WIFEXITED(result) && WEXITSTATUS(result) == 0;
  }
  return agree;
}

} // namespace gpu
