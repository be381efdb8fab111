// The interface that kernels are written against: one thread's view of its block. On a device these are intrinsics; the
// simulator runs every thread as a fiber, and checks every access.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Threads that exchange values by shuffles.
inline constexpr int warp_size = 32;

/// `Count` values of type T that are loaded and stored as one; aligned to their size, which is 16 bytes at most.
template <class T, int Count> struct alignas(sizeof(T) * std::size_t{Count}) vector_of {
  static_assert(sizeof(T) * std::size_t{Count} <= 16);
  T values[std::size_t{Count}];
};

/// The policy; `block` is one thread's view. All threads of a block call `barrier` the same number of times, and all
/// threads of a warp its shuffles. A device's memory is read and written only by `load` and `store`, whose pointers are
/// aligned for their type. Shared memory has the size that the launch asked for, and is accessed by `load` and `store`
/// too. Shared memory of the other blocks of a cluster is accessed between barriers of the cluster, which all its
/// threads call the same number of times.
template <class Block>
concept thread_block = requires(const Block& block, const float* source, float* target, float value, int distance,
                                std::uint64_t condition, unsigned number) {
  { block.thread() } -> std::same_as<int>;          ///< in its block
  { block.threads() } -> std::same_as<int>;         ///< of a block
  { block.block() } -> std::same_as<std::int64_t>;  ///< this block
  { block.blocks() } -> std::same_as<std::int64_t>; ///< in the launch
  { block.load(source) } -> std::same_as<float>;
  block.store(target, value);
  { block.shared() } -> std::same_as<std::byte*>; ///< aligned to 16 bytes
  block.barrier();
  /// the value of the thread `distance` lanes further on; the thread's own value if the warp has no such lane
  { block.shuffle_down(value, distance) } -> std::same_as<float>;
  { block.shuffle_xor(value, distance) } -> std::same_as<float>;
  block.set_condition(condition, number); ///< of the graph that launches this, by one thread; see `graph_condition`
};

/// A block of a launch that may run in clusters.
template <class Block>
concept cluster_block = thread_block<Block> && requires(const Block& block, int number) {
  { block.shared_of(number) } -> std::same_as<std::byte*>; ///< of the block of that number in this one's cluster
  block.cluster_barrier();
};

/// A thread's and a block's number, and how many there are, as kernels count elements.
template <class Block> PARALLAX_DEVICE PARALLAX_INLINE std::uint32_t thread_of(const Block& block) {
  return static_cast<std::uint32_t>(block.thread());
}
template <class Block> PARALLAX_DEVICE PARALLAX_INLINE std::uint32_t threads_of(const Block& block) {
  return static_cast<std::uint32_t>(block.threads());
}
template <class Block> PARALLAX_DEVICE PARALLAX_INLINE std::uint32_t block_of(const Block& block) {
  return static_cast<std::uint32_t>(block.block());
}
template <class Block> PARALLAX_DEVICE PARALLAX_INLINE std::uint32_t blocks_of(const Block& block) {
  return static_cast<std::uint32_t>(block.blocks());
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
