// The threads of a kernel's block, or of a cluster of blocks that run together: they are fibers, every access of which
// is checked. Faults of a kernel are thrown.
#pragma once

#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/api/block.hpp>

#include "support/simulator/faults.hpp"
#include "support/simulator/fiber.hpp"
#include "support/simulator/random.hpp"
#include "support/simulator/shared_memory.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace simulator {

/// Sees every access to a device's memory before it happens; throws where it must not.
class access_observer {
 public:
  virtual ~access_observer() = default;
  virtual void read(const void* data, std::size_t bytes) = 0;
  virtual void write(void* data, std::size_t bytes) = 0;
  /// See `graph_condition`.
  virtual void set_condition(std::uint64_t, unsigned) { fail("a kernel outside of any graph sets a condition"); }
};

/// The state of the threads of one cluster, which is of one block for most launches.
class block_state {
 public:
  static constexpr std::size_t largest_shared = 227 * 1024;
  static constexpr unsigned largest_cluster = 16;

  block_state(const parallax::cuda::launch_shape& shape, std::uint64_t seed, access_observer& observer, bool waits)
      : observer_(observer), shape_(shape), random_(seed), waits_(waits) {
    if (shape.blocks == 0 || shape.threads == 0 || shape.threads > 1024 || shape.shared_bytes > largest_shared)
      fail("a launch of ", shape.blocks, " blocks of ", shape.threads, " threads with ", shape.shared_bytes,
           " bytes of shared memory");
    if (waits && shape.threads % parallax::cuda::warp_size != 0)
      fail("a launch of blocks of ", shape.threads, " threads, which are no whole warps, that wait for one another");
    if (shape.cluster == 0 || shape.cluster > largest_cluster || shape.blocks % shape.cluster != 0 ||
        (shape.cluster > 1 && !waits))
      fail("a launch of ", shape.blocks, " blocks in clusters of ", shape.cluster);
    all_threads_ = shape.threads * shape.cluster;
    for (unsigned i = 0; i < shape.cluster; ++i) memories_.emplace_back(shape.shared_bytes);
    at_barrier_.resize(shape.cluster);
    running_.resize(shape.cluster);
    if (waits) {
      waiting_.resize(all_threads_);
      deposited_.resize(all_threads_);
      published_.resize(all_threads_);
    }
  }

  unsigned clusters() const { return shape_.blocks / shape_.cluster; }

  /// Runs `body(thread)` for all threads of a cluster.
  template <class Body> void run(std::int64_t number, const Body& body) {
    first_block_ = number * shape_.cluster;
    if (!waits_) {
      for (thread_ = 0; thread_ < static_cast<int>(all_threads_); ++thread_) body();
      return;
    }
    // what earlier blocks left in shared memory means nothing
    for (shared_memory& each : memories_) each.forget(random_);
    std::fill(waiting_.begin(), waiting_.end(), wait::none);
    std::fill(at_barrier_.begin(), at_barrier_.end(), 0U);
    std::fill(running_.begin(), running_.end(), shape_.threads);
    at_cluster_barrier_ = 0;
    first_period_ = ++cluster_period_;
    in_warp_.assign(all_threads_ / parallax::cuda::warp_size, 0);
    fibers_.start(all_threads_, [&](std::size_t) { body(); });
    ready_.resize(all_threads_);
    std::iota(ready_.begin(), ready_.end(), 0);
    std::size_t running = all_threads_;
    while (running > 0) {
      if (ready_.empty()) report_divergence();
      std::size_t chosen = random_.below(ready_.size());
      thread_ = ready_[chosen];
      ready_[chosen] = ready_.back();
      ready_.pop_back();
      if (!fibers_.resume(static_cast<std::size_t>(thread_))) {
        waiting_[static_cast<std::size_t>(thread_)] = wait::ended;
        --running;
        if (--running_[own_rank()] == 0) end_block(own_rank());
      }
    }
  }

  void set_condition(std::uint64_t condition, unsigned number) { observer_.set_condition(condition, number); }

  int thread() const { return thread_ % static_cast<int>(shape_.threads); }
  std::int64_t block() const { return block_of(thread_); }
  const parallax::cuda::launch_shape& shape() const { return shape_; }
  std::byte* shared() { return memories_[own_rank()].data(); }
  std::byte* shared_of(int rank) {
    if (rank < 0 || rank >= static_cast<int>(shape_.cluster))
      fail(who(thread_), " asks for the shared memory of block ", rank, " of a cluster of ", shape_.cluster);
    return memories_[static_cast<std::size_t>(rank)].data();
  }

  void barrier() {
    require_waits();
    const std::size_t rank = own_rank();
    if (++at_barrier_[rank] < shape_.threads) return wait_for(wait::barrier);
    at_barrier_[rank] = 0;
    memories_[rank].pass_barrier();
    release(static_cast<unsigned>(rank) * shape_.threads, shape_.threads, wait::barrier);
  }

  void cluster_barrier() {
    require_waits();
    if (++at_cluster_barrier_ < all_threads_) return wait_for(wait::cluster_barrier);
    at_cluster_barrier_ = 0;
    ++cluster_period_;
    release(0, all_threads_, wait::cluster_barrier);
  }

  /// The value that the thread in lane `other(lane)` gives; this thread's own where there is none in the warp.
  template <class T, class Other> T shuffle(T value, Other other) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    require_waits();
    constexpr unsigned count = parallax::cuda::warp_size;
    const unsigned mine = static_cast<unsigned>(thread_), warp = mine / count, first = warp * count;
    deposited_[mine] = {};
    std::memcpy(&deposited_[mine], &value, sizeof value);
    if (++in_warp_[warp] < count) {
      wait_for(wait::shuffle);
    } else {
      in_warp_[warp] = 0;
      std::copy_n(deposited_.begin() + first, count, published_.begin() + first);
      release(first, count, wait::shuffle);
    }
    const int lane = other(static_cast<int>(mine - first));
    if (lane < 0 || lane >= parallax::cuda::warp_size) return value;
    T result;
    std::memcpy(static_cast<void*>(&result), &published_[first + static_cast<unsigned>(lane)], sizeof result);
    return result;
  }

  void check(const void* data, std::size_t bytes, std::size_t alignment, bool writes) {
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
      fail(who(thread_), writes ? " stores " : " loads ", bytes, " bytes at a misaligned address");
    for (std::size_t rank = 0; rank < memories_.size(); ++rank)
      if (memories_[rank].is_near(data)) return check_shared(rank, data, bytes, writes);
    if (writes) observer_.write(const_cast<void*>(data), bytes);
    else observer_.read(data, bytes);
  }

 private:
  enum class wait : unsigned char { none, barrier, cluster_barrier, shuffle, ended };

  access_observer& observer_;
  parallax::cuda::launch_shape shape_;
  generator random_;
  bool waits_;
  unsigned all_threads_ = 0;            ///< of a cluster: block after block
  std::vector<shared_memory> memories_; ///< of each block
  std::uint32_t cluster_period_ = 0;    ///< counts barriers of clusters, and clusters
  std::uint32_t first_period_ = 0;
  fiber_group fibers_;
  std::vector<int> ready_;
  std::vector<wait> waiting_;
  std::vector<std::uint64_t> deposited_, published_; ///< what shuffles exchange
  std::vector<unsigned> in_warp_;                    ///< threads that wait in a shuffle
  std::vector<unsigned> at_barrier_;                 ///< threads of each block
  std::vector<unsigned> running_;                    ///< threads of each block
  unsigned at_cluster_barrier_ = 0;
  int thread_ = 0;
  std::int64_t first_block_ = 0;

  std::size_t own_rank() const { return static_cast<std::size_t>(thread_) / shape_.threads; }
  std::int64_t block_of(int thread) const { return first_block_ + thread / static_cast<int>(shape_.threads); }
  std::string who(int thread) const {
    return text("thread ", thread % static_cast<int>(shape_.threads), " of block ", block_of(thread));
  }
  void require_waits() const {
    if (!waits_) fail("a kernel that has no barriers, as it says, waits for other threads");
  }
  void wait_for(wait what) {
    const int mine = thread_;
    waiting_[static_cast<std::size_t>(mine)] = what;
    fibers_.pause();
    thread_ = mine;
  }
  void release(unsigned first, unsigned count, wait what) {
    for (unsigned i = first; i < first + count; ++i) {
      if (waiting_[i] != what) continue;
      waiting_[i] = wait::none;
      ready_.push_back(static_cast<int>(i));
    }
  }
  [[noreturn]] void report_divergence() const {
    const int all = static_cast<int>(all_threads_);
    std::string waiting;
    const auto add = [&](wait what, const char* does) {
      const int first = static_cast<int>(std::find(waiting_.begin(), waiting_.end(), what) - waiting_.begin());
      if (first < all) waiting += text(waiting.empty() ? "" : ", ", who(first), does);
    };
    add(wait::barrier, " waits at a barrier");
    add(wait::cluster_barrier, " waits at a barrier of its cluster");
    add(wait::shuffle, " waits in a shuffle");
    add(wait::ended, " has ended");
    fail(waiting, ": not all threads arrive there");
  }
  void check_shared(std::size_t rank, const void* data, std::size_t bytes, bool writes) {
    shared_memory& of = memories_[rank];
    const std::ptrdiff_t at = static_cast<const std::byte*>(data) - of.data();
    if (at < 0 || at + static_cast<std::ptrdiff_t>(bytes) > static_cast<std::ptrdiff_t>(shape_.shared_bytes))
      fail(who(thread_), " accesses ", bytes, " bytes at ", at, " of ", shape_.shared_bytes, " bytes of shared memory");
    const bool is_own = rank == own_rank();
    if (!is_own && cluster_period_ == first_period_)
      fail(who(thread_), " accesses another block's shared memory before a barrier of its cluster");
    if (!is_own && running_[rank] == 0) fail(who(thread_), " accesses shared memory of a block that has ended");
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto byte = static_cast<std::size_t>(at) + i;
      const auto other = of.touch(byte, {thread_, is_own, writes, cluster_period_});
      if (!other) continue;
      fail(who(thread_), writes ? " writes" : " reads", " byte ", byte, " of ", is_own ? "" : "another block's ",
           "shared memory, which ", other->thread == shared_memory::several ? "others" : name_beside(other->thread),
           other->wrote ? " wrote" : " read", " since the last barrier",
           is_own && other->was_own ? "" : " of the cluster");
    }
  }
  std::string name_beside(int thread) const {
    return block_of(thread) == block() ? text("thread ", thread % static_cast<int>(shape_.threads)) : who(thread);
  }
  void end_block(std::size_t rank) const {
    if (memories_[rank].is_visited_since(cluster_period_))
      fail("block ", block_of(thread_),
           " ends where others access its shared memory since the last barrier of the cluster");
  }
};

} // namespace simulator
