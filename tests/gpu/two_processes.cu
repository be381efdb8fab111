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

/// A rank's communicator with the other one, and its stream.
struct member {
  explicit member(int rank, const pipe_ends& ends) {
    const api::clique_id id = exchange_id(rank, ends);
    std::array<api::communicator, 1> own{};
    const std::array<int, 1> device{}, ranks{rank};
    ok(api::join_clique(own, device, ranks, processes, id));
    with = own[0];
    settle(with);
  }
  queue on;
  api::communicator with{};
};

void exchange_all(int rank, const pipe_ends& ends) {
  const member own(rank, ends);
  const queue& on = own.on;
  const api::communicator with = own.with;

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

constexpr std::size_t few = 1000;

void enqueue_sum(api::communicator among, const device_array<float>& of, const queue& on) {
  ok(api::group_start());
  ok(api::all_reduce(of.data(), of.data(), few, element_type::float32, reduction_kind::sum, among, on.get()));
  is_ready(api::group_end());
  settle(among);
}

/// Rank 1 comes once, and then never again.
void abandon(int rank, const pipe_ends& ends) {
  const member own(rank, ends);
  api::communicator part{};
  api::communicator* const child = &part;
  const parallax::cuda::clique_place place{0, rank};
  ok(api::split_clique({&child, 1}, {&own.with, 1}, {&place, 1}));
  settle(own.with);
  settle(part);
  const queue beside;
  const device_array<float> first(own.on, numbers<float>(few, 1)), second(beside, numbers<float>(few, 2));
  enqueue_sum(own.with, first, own.on); // connects them
  enqueue_sum(part, second, beside);
  own.on.wait();
  beside.wait();
  if (rank == 1) {
    std::this_thread::sleep_for(std::chrono::minutes(1)); // until it is ended
    return;
  }
  enqueue_sum(own.with, first, own.on);
  enqueue_sum(part, second, beside);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  require(!is_ready(api::query_stream(own.on.get())) && !is_ready(api::query_stream(beside.get())),
          "collectives wait for who never comes");
  const auto begin = std::chrono::steady_clock::now();
  const std::array<api::communicator, 2> both{own.with, part};
  ok(api::abort_communicators(both));
  own.on.wait();
  beside.wait();
  std::printf("two collectives were given up in %.2f s\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  std::array<api::communicator, 1> alone{};
  const std::array<int, 1> device{};
  ok(api::create_clique(alone, device));
  settle(alone[0]);
  const device_array<float> third(own.on, numbers<float>(few, 3));
  enqueue_sum(alone[0], third, own.on);
  require(third.values() == numbers<float>(few, 3), "NCCL works afterwards");
  ok(api::destroy_communicator(alone[0]));
}

/// Runs ranks in processes of their own; the first one that ends ends the others, unless all are to end well. Returns
/// whether those did that had to.
bool run_ranks(void (*run)(int rank, const pipe_ends& ends), bool all_end, int seconds) {
  pipe_ends ends{};
  require(pipe(ends.data()) == 0, "a pipe");
  std::array<pid_t, processes> children{};
  for (int rank = 0; rank < processes; ++rank) {
    const pid_t child = fork();
    require(child >= 0, "a process");
    if (child == 0) {
      int result = 0;
      try {
        set_environment(rank);
        run(rank, ends);
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "rank %d: %s\n", rank, failure.what());
        result = 1;
      }
      std::fflush(nullptr);
      std::_Exit(result);
    }
    children[static_cast<std::size_t>(rank)] = child;
  }
  close(ends[0]);
  close(ends[1]);
  bool is_well = true;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (pid_t child : children) {
    const bool may_stay = child != children.front() && !all_end;
    int result = 0;
    while (waitpid(child, &result, WNOHANG) == 0) {
      const bool is_late = std::chrono::steady_clock::now() > limit;
      is_well = is_well && (may_stay || !is_late);
      // the peer of one that failed waits in vain
      if (!is_well || is_late || may_stay) kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    is_well = is_well && (may_stay || (WIFEXITED(result) && WEXITSTATUS(result) == 0));
  }
  return is_well;
}

} // namespace

bool two_processes_agree() { return run_ranks(exchange_all, true, 50); }
bool abandoned_collectives_end() { return run_ranks(abandon, false, 30); }

} // namespace gpu
