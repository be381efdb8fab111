// Kernels on the host, as each thread of a block sees it.
#pragma once

#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/api/block.hpp>

#include "support/simulator/block_state.hpp"
#include "support/simulator/faults.hpp"
#include "support/simulator/random.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <typeinfo>

namespace simulator {

/// One thread's view of its block: `parallax::cuda::cluster_block`.
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
  std::byte* shared_of(int rank) const { return state_->shared_of(rank); }
  void set_condition(std::uint64_t condition, unsigned number) const { state_->set_condition(condition, number); }
  void barrier() const { state_->barrier(); }
  void cluster_barrier() const { state_->cluster_barrier(); }
  template <class T> T shuffle_down(T value, int distance) const {
    return state_->shuffle(value, [=](int lane) { return lane + distance; });
  }
  template <class T> T shuffle_xor(T value, int distance) const {
    return state_->shuffle(value, [=](int lane) { return lane ^ distance; });
  }

 private:
  block_state* state_;
};

static_assert(parallax::cuda::cluster_block<block_view>);

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

/// Runs a whole launch of a kernel, its clusters in an order that `seed` decides as it does that of threads. Throws
/// `fault`.
inline void run_kernel(const kernel_code& kernel, const parallax::cuda::launch_shape& shape, const void* arguments,
                       std::uint64_t seed, access_observer& observer) {
  block_state state(shape, seed, observer, kernel.barriers);
  generator random(seed);
  const std::uint64_t count = state.clusters(), first = random.below(count);
  std::uint64_t step = random.below(count) + 1;
  while (std::gcd(step, count) != 1) ++step;
  for (std::uint64_t i = 0; i < count; ++i)
    state.run(static_cast<std::int64_t>((first + i * step) % count), [&] { kernel.run(state, arguments); });
}
template <class K>
void run_kernel(const parallax::cuda::launch_shape& shape, const typename K::arguments& arguments, std::uint64_t seed,
                access_observer& observer) {
  run_kernel(code_of<K>(), shape, &arguments, seed, observer);
}

} // namespace simulator
