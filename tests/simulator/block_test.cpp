// The simulator's blocks find what kernels do wrong.
#include "support/simulator/block.hpp"
#include "support/test.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace block_test {

namespace cuda = parallax::cuda;

namespace {

/// Knows one array of numbers.
class one_array : public simulator::access_observer {
 public:
  std::vector<int> numbers;

  explicit one_array(std::size_t count) : numbers(count) {}
  void read(const void* data, std::size_t bytes) override { check(data, bytes); }
  void write(void* data, std::size_t bytes) override { check(data, bytes); }

 private:
  void check(const void* data, std::size_t bytes) const {
    const auto* at = static_cast<const std::byte*>(data);
    const auto* begin = reinterpret_cast<const std::byte*>(numbers.data());
    if (at < begin || at + bytes > begin + numbers.size() * sizeof(int)) simulator::fail("out of bounds");
  }
};

struct array_arguments {
  int* numbers;
  int count;
  bool mistaken;
};

/// Reverses each block's share of the array through shared memory.
struct reverse {
  using arguments = array_arguments;
  static constexpr bool barriers = true;
  template <class Block> static void run(const Block& block, const arguments& a) {
    int* shared = reinterpret_cast<int*>(block.shared());
    int* share = a.numbers + block.block() * block.threads();
    block.store(shared + block.thread(), block.load(share + block.thread()));
    if (!a.mistaken) block.barrier();
    block.store(share + block.thread(), block.load(shared + (block.threads() - 1 - block.thread())));
  }
};

/// The first warp alone comes to the barrier.
struct diverging {
  using arguments = array_arguments;
  static constexpr bool barriers = true;
  template <class Block> static void run(const Block& block, const arguments& a) {
    if (!a.mistaken || block.thread() < cuda::warp_size) block.barrier();
  }
};

/// One lane does not shuffle.
struct lonely {
  using arguments = array_arguments;
  static constexpr bool barriers = true;
  template <class Block> static void run(const Block& block, const arguments& a) {
    int total = block.thread();
    if (a.mistaken && block.thread() == 5) return;
    for (int mask = cuda::warp_size / 2; mask > 0; mask /= 2) total += block.shuffle_xor(total, mask);
    int next = block.shuffle_down(block.thread(), 1);
    if (block.thread() % cuda::warp_size == 0) {
      block.store(a.numbers + block.thread() / cuda::warp_size, total);
      block.store(a.numbers + 8 + block.thread() / cuda::warp_size, next);
    }
  }
};

/// Doubles all elements; the mistaken one goes one step too far.
struct doubling {
  using arguments = array_arguments;
  static constexpr bool barriers = false;
  template <class Block> static void run(const Block& block, const arguments& a) {
    int count = a.mistaken ? a.count + 1 : a.count;
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < count;
         i += block.blocks() * block.threads())
      block.store(a.numbers + i, 2 * block.load(a.numbers + i));
  }
};

/// Loads a vector; from the second element on where mistaken.
struct vector_load {
  using arguments = array_arguments;
  static constexpr bool barriers = false;
  template <class Block> static void run(const Block& block, const arguments& a) {
    auto both = block.load(reinterpret_cast<const cuda::vector_of<int, 2>*>(a.numbers + (a.mistaken ? 1 : 0)));
    block.store(a.numbers, both.values[0] + both.values[1]);
  }
};

/// Writes to shared memory behind its end where mistaken.
struct shared_store {
  using arguments = array_arguments;
  static constexpr bool barriers = true;
  template <class Block> static void run(const Block& block, const arguments& a) {
    int at = block.thread() + (a.mistaken ? 1 : 0);
    block.store(reinterpret_cast<int*>(block.shared()) + at, at);
  }
};

struct undeclared {
  using arguments = array_arguments;
  static constexpr bool barriers = false;
  template <class Block> static void run(const Block& block, const arguments&) { block.barrier(); }
};

enum class mistake { early_read, wrong_barrier, early_end, absent_block, wrong_block };

/// Twice sums what a cluster's blocks have, through each one's shared memory.
template <mistake Mistake> struct sum_of_cluster {
  using arguments = array_arguments;
  static constexpr bool barriers = true;
  template <class Block> static void run(const Block& block, const arguments& a) {
    const auto is = [&](mistake what) { return a.mistaken && what == Mistake; };
    constexpr int blocks = 4;
    int* own = a.numbers + block.block() * block.threads() + block.thread();
    int* shared = reinterpret_cast<int*>(block.shared()) + block.thread();
    for (int turn = 0; turn < 2; ++turn) {
      block.store(shared, block.load(own));
      if (is(mistake::absent_block) && block.block() % blocks == 3) return;
      if (!is(mistake::early_read)) block.cluster_barrier();
      int sum = 0;
      for (int i = is(mistake::wrong_block) ? 1 : 0; i < blocks + (is(mistake::wrong_block) ? 1 : 0); ++i)
        sum += block.load(reinterpret_cast<const int*>(block.shared_of(i)) + block.thread());
      block.store(own, sum);
      if (is(mistake::wrong_barrier)) block.barrier();
      else if (!is(mistake::early_end) || turn == 0) block.cluster_barrier();
    }
  }
};

template <class K> std::vector<int> run(const cuda::launch_shape& shape, bool mistaken, std::uint64_t seed) {
  one_array memory(128);
  for (std::size_t i = 0; i < memory.numbers.size(); ++i) memory.numbers[i] = static_cast<int>(i);
  simulator::run_kernel<K>(shape, {memory.numbers.data(), static_cast<int>(memory.numbers.size()), mistaken}, seed,
                           memory);
  return memory.numbers;
}

/// What a mistaken kernel's fault says.
template <class K> std::string fault_of(const cuda::launch_shape& shape) {
  try {
    run<K>(shape, true, 1);
  } catch (const simulator::fault& found) {
    return found.what();
  }
  return "";
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("Threads of a block exchange values through shared memory and shuffles") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto reversed = run<reverse>({2, 64, 64 * sizeof(int)}, false, seed);
    for (int i = 0; i < 128; ++i) CHECK(reversed[static_cast<std::size_t>(i)] == i / 64 * 64 + 63 - i % 64);
    auto shuffled = run<lonely>({1, 64}, false, seed);
    CHECK(shuffled[0] == 31 * 16);
    CHECK(shuffled[1] == 31 * 16 + 32 * 32);
    CHECK(shuffled[9] == 33);
    CHECK(run<diverging>({3, 96}, false, seed).size() == 128);
    auto doubled = run<doubling>({3, 10}, false, seed);
    for (int i = 0; i < 128; ++i) CHECK(doubled[static_cast<std::size_t>(i)] == 2 * i);
    CHECK(run<vector_load>({1, 1}, false, seed)[0] == 1);
  }
}

TEST_CASE("A missing barrier is a race on shared memory") {
  CHECK(contains(fault_of<reverse>({2, 64, 64 * sizeof(int)}), "since the last barrier"));
}

TEST_CASE("A barrier and a shuffle that not all threads reach are found") {
  CHECK(contains(fault_of<diverging>({1, 64}), "waits at a barrier"));
  CHECK(contains(fault_of<diverging>({1, 64}), "has ended: not all threads arrive there"));
  CHECK(contains(fault_of<lonely>({1, 64}), "waits in a shuffle"));
}

TEST_CASE("Blocks of a cluster run together and read each other's shared memory") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto sums = run<sum_of_cluster<mistake::early_read>>({4, 32, 32 * sizeof(int), 4}, false, seed);
    for (int i = 0; i < 128; ++i) CHECK(sums[static_cast<std::size_t>(i)] == 4 * (4 * (i % 32) + 6 * 32));
  }
}

TEST_CASE(
    "Accesses of a cluster's shared memory that none of its barriers orders are found, and blocks that end early") {
  const cuda::launch_shape shape{4, 32, 32 * sizeof(int), 4};
  CHECK(contains(fault_of<sum_of_cluster<mistake::early_read>>(shape), "before a barrier of its cluster"));
  CHECK(contains(fault_of<sum_of_cluster<mistake::wrong_barrier>>(shape), "since the last barrier of the cluster"));
  CHECK(contains(fault_of<sum_of_cluster<mistake::early_end>>(shape), "ends where others access its shared memory"));
  CHECK(contains(fault_of<sum_of_cluster<mistake::absent_block>>(shape), "waits at a barrier of its cluster"));
  CHECK(contains(fault_of<sum_of_cluster<mistake::wrong_block>>(shape), "the shared memory of block 4 of a cluster"));
}

TEST_CASE("Accesses out of bounds and misaligned ones are found") {
  CHECK(fault_of<doubling>({3, 10}) == "out of bounds");
  CHECK(contains(fault_of<vector_load>({1, 1}), "loads 8 bytes at a misaligned address"));
  CHECK(contains(fault_of<shared_store>({1, 32, 32 * sizeof(int)}), "of 128 bytes of shared memory"));
}

TEST_CASE("Launches that no device takes are found") {
  CHECK(contains(fault_of<doubling>({0, 10}), "a launch of 0 blocks"));
  CHECK(contains(fault_of<doubling>({1, 1025}), "1025 threads"));
  CHECK(contains(fault_of<diverging>({1, 48}), "no whole warps"));
  CHECK(contains(fault_of<diverging>({6, 64, 0, 4}), "6 blocks in clusters of 4"));
  CHECK(contains(fault_of<doubling>({2, 32, 0, 2}), "2 blocks in clusters of 2"));
  CHECK(contains(fault_of<undeclared>({1, 32}), "no barriers, as it says"));
}

} // namespace block_test
