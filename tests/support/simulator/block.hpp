// A block of a kernel on the host: its threads are fibers, and every access is checked. Faults of a kernel are thrown.
#pragma once

#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/api/block.hpp>

#include "support/simulator/faults.hpp"
#include "support/simulator/fiber.hpp"
#include "support/simulator/random.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <typeinfo>
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

/// The state of the threads of one block.
class block_state {
 public:
  static constexpr std::size_t largest_shared = 227 * 1024;

  block_state(const parallax::cuda::launch_shape& shape, std::uint64_t seed, access_observer& observer, bool waits)
      : observer_(observer), shape_(shape), random_(seed), waits_(waits) {
    if (shape.blocks == 0 || shape.threads == 0 || shape.threads > 1024 || shape.shared_bytes > largest_shared)
      fail("a launch of ", shape.blocks, " blocks of ", shape.threads, " threads with ", shape.shared_bytes,
           " bytes of shared memory");
    if (waits && shape.threads % parallax::cuda::warp_size != 0)
      fail("a launch of blocks of ", shape.threads, " threads, which are no whole warps, that wait for one another");
    shared_memory_.resize((shape.shared_bytes + 2 * guard_bytes) / sizeof(aligned_bytes) + 1);
    shared_ = shared_memory_[0].bytes + guard_bytes;
    touched_.resize(shape.shared_bytes);
    if (waits) {
      waiting_.resize(shape.threads);
      deposited_.resize(shape.threads);
      published_.resize(shape.threads);
    }
  }

  /// Runs `body(thread)` for all threads of a block.
  template <class Body> void run(std::int64_t number, const Body& body) {
    block_ = number;
    if (!waits_) {
      for (thread_ = 0; thread_ < static_cast<int>(shape_.threads); ++thread_) body();
      return;
    }
    // what an earlier block left in shared memory means nothing
    for (std::size_t i = 0; i < shape_.shared_bytes; ++i) shared_[i] = static_cast<std::byte>(random_.below(256));
    std::fill(touched_.begin(), touched_.end(), touch{});
    std::fill(waiting_.begin(), waiting_.end(), wait::none);
    at_barrier_ = 0;
    in_warp_.assign(shape_.threads / parallax::cuda::warp_size, 0);
    period_ = 1;
    fibers_.start(shape_.threads, [&](std::size_t) { body(); });
    ready_.resize(shape_.threads);
    std::iota(ready_.begin(), ready_.end(), 0);
    std::size_t running = shape_.threads;
    while (running > 0) {
      if (ready_.empty()) report_divergence();
      std::size_t chosen = random_.below(ready_.size());
      thread_ = ready_[chosen];
      ready_[chosen] = ready_.back();
      ready_.pop_back();
      if (!fibers_.resume(static_cast<std::size_t>(thread_))) {
        waiting_[static_cast<std::size_t>(thread_)] = wait::ended;
        --running;
      }
    }
  }

  void set_condition(std::uint64_t condition, unsigned number) { observer_.set_condition(condition, number); }

  int thread() const { return thread_; }
  std::int64_t block() const { return block_; }
  const parallax::cuda::launch_shape& shape() const { return shape_; }
  std::byte* shared() const { return shared_; }

  void barrier() {
    require_waits();
    if (++at_barrier_ < shape_.threads) return wait_for(wait::barrier);
    at_barrier_ = 0;
    ++period_;
    release(0, shape_.threads, wait::barrier);
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
    const std::byte* at = static_cast<const std::byte*>(data);
    if (std::less<>{}(at, shared_ - guard_bytes) || !std::less<>{}(at, shared_ + shape_.shared_bytes + guard_bytes)) {
      if (writes) observer_.write(const_cast<void*>(data), bytes);
      else observer_.read(data, bytes);
      return;
    }
    if (at < shared_ || at + bytes > shared_ + shape_.shared_bytes)
      fail(who(thread_), " accesses ", bytes, " bytes at ", at - shared_, " of ", shape_.shared_bytes,
           " bytes of shared memory");
    for (std::size_t i = 0; i < bytes; ++i) touch_shared(static_cast<std::size_t>(at - shared_) + i, writes);
  }

 private:
  enum class wait : unsigned char { none, barrier, shuffle, ended };
  static constexpr std::size_t guard_bytes = 4096;
  static constexpr int nobody = -1, several = -2;
  struct alignas(16) aligned_bytes {
    std::byte bytes[16];
  };
  /// Who accessed a byte of shared memory between two barriers.
  struct touch {
    std::uint64_t period = 0;
    int writer = nobody, reader = nobody;
  };

  access_observer& observer_;
  parallax::cuda::launch_shape shape_;
  generator random_;
  bool waits_;
  std::vector<aligned_bytes> shared_memory_;
  std::byte* shared_ = nullptr;
  std::vector<touch> touched_;
  std::uint64_t period_ = 1; ///< counts barriers
  fiber_group fibers_;
  std::vector<int> ready_;
  std::vector<wait> waiting_;
  std::vector<std::uint64_t> deposited_, published_; ///< what shuffles exchange
  std::vector<unsigned> in_warp_;                    ///< threads that wait in a shuffle
  unsigned at_barrier_ = 0;
  int thread_ = 0;
  std::int64_t block_ = 0;

  std::string who(int thread) const { return text("thread ", thread, " of block ", block_); }
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
    auto first = [&](wait what) {
      return static_cast<int>(std::find(waiting_.begin(), waiting_.end(), what) - waiting_.begin());
    };
    const int all = static_cast<int>(shape_.threads), at_barrier = first(wait::barrier),
              in_shuffle = first(wait::shuffle), ended = first(wait::ended);
    std::string waiting =
        at_barrier < all ? who(at_barrier) + " waits at a barrier" : who(in_shuffle) + " waits in a shuffle";
    if (at_barrier < all && in_shuffle < all) waiting += ", " + who(in_shuffle) + " in a shuffle";
    if (ended < all) waiting += ", " + who(ended) + " has ended";
    fail(waiting, ": not all threads arrive there");
  }
  void touch_shared(std::size_t at, bool writes) {
    touch& t = touched_[at];
    if (t.period != period_) t = {period_};
    auto race = [&](int other, const char* did) {
      fail(who(thread_), writes ? " writes" : " reads", " byte ", at, " of shared memory, which ",
           other == several ? "others" : text("thread ", other), did, " since the last barrier");
    };
    if (t.writer != nobody && t.writer != thread_) race(t.writer, " wrote");
    if (writes && t.reader != nobody && t.reader != thread_) race(t.reader, " read");
    if (writes) t.writer = thread_;
    else if (t.reader == nobody) t.reader = thread_;
    else if (t.reader != thread_) t.reader = several;
  }
};

/// One thread's view of its block: `parallax::cuda::thread_block`.
class block_view {
 public:
  explicit block_view(block_state& state) : state_(&state) {}

  int thread() const { return state_->thread(); }
  int threads() const { return static_cast<int>(state_->shape().threads); }
  std::int64_t block() const { return state_->block(); }
  std::int64_t blocks() const { return state_->shape().blocks; }

  template <class T> T load(const T* source) const {
    state_->check(source, sizeof(T), alignof(T), false);
    T value;
    std::memcpy(&value, source, sizeof value);
    return value;
  }
  template <class T> void store(T* target, std::type_identity_t<T> value) const {
    state_->check(target, sizeof(T), alignof(T), true);
    std::memcpy(target, &value, sizeof value);
  }
  std::byte* shared() const { return state_->shared(); }
  void set_condition(std::uint64_t condition, unsigned number) const { state_->set_condition(condition, number); }
  void barrier() const { state_->barrier(); }
  template <class T> T shuffle_down(T value, int distance) const {
    return state_->shuffle(value, [=](int lane) { return lane + distance; });
  }
  template <class T> T shuffle_xor(T value, int distance) const {
    return state_->shuffle(value, [=](int lane) { return lane ^ distance; });
  }

 private:
  block_state* state_;
};

static_assert(parallax::cuda::thread_block<block_view>);

/// A kernel without its type: what all kernels are run by is compiled once.
struct kernel_code {
  std::string name;
  bool barriers;
  void (*run)(block_state&, const void* arguments); ///< a thread
};

template <class K> const kernel_code& code_of() {
  static_assert(sizeof(typename K::arguments) <= 32764, "a kernel's arguments take 32764 bytes at most");
  static const kernel_code code{readable(typeid(K).name()), K::barriers, [](block_state& state, const void* arguments) {
                                  K::run(block_view(state), *static_cast<const typename K::arguments*>(arguments));
                                }};
  return code;
}

/// Runs a whole launch of a kernel, its blocks in an order that `seed` decides as it does that of threads. Throws
/// `fault`.
inline void run_kernel(const kernel_code& kernel, const parallax::cuda::launch_shape& shape, const void* arguments,
                       std::uint64_t seed, access_observer& observer) {
  block_state state(shape, seed, observer, kernel.barriers);
  generator random(seed);
  const std::uint64_t first = random.below(shape.blocks);
  std::uint64_t step = random.below(shape.blocks) + 1;
  while (std::gcd(step, static_cast<std::uint64_t>(shape.blocks)) != 1) ++step;
  for (std::uint64_t i = 0; i < shape.blocks; ++i)
    state.run(static_cast<std::int64_t>((first + i * step) % shape.blocks), [&] { kernel.run(state, arguments); });
}
template <class K>
void run_kernel(const parallax::cuda::launch_shape& shape, const typename K::arguments& arguments, std::uint64_t seed,
                access_observer& observer) {
  run_kernel(code_of<K>(), shape, &arguments, seed, observer);
}

} // namespace simulator
