// The block policy of a CUDA device, and how its kernels are launched.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/nvidia/runtime_status.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// One thread's view of its block. Values of any trivially copyable type are shuffled, word by word.
struct device_block {
  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ int threads() const { return static_cast<int>(blockDim.x); }
  __device__ std::int64_t block() const { return blockIdx.x; }
  __device__ std::int64_t blocks() const { return gridDim.x; }

  template <class T> __device__ T load(const T* source) const { return *source; }
  template <class T> __device__ void store(T* target, T value) const { *target = value; }

  /// What the launch asked for.
  __device__ std::byte* shared() const {
    extern __shared__ uint4 memory[];
    return reinterpret_cast<std::byte*>(memory);
  }

  __device__ void barrier() const { __syncthreads(); }

  // Without clusters, each block is a cluster of its own. cooperative_groups has both functions too, with headers that
  // are a quarter of all that a file reads.
#if __CUDA_ARCH__ >= 900 // as `first_with_clusters` says
  __device__ std::byte* shared_of(int rank) const {
    std::byte* there;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared()), "r"(rank));
    return there;
  }
  __device__ void cluster_barrier() const {
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
  }
#else
  __device__ std::byte* shared_of(int) const { return shared(); }
  __device__ void cluster_barrier() const { __syncthreads(); }
#endif

  template <class T> __device__ T shuffle_down(T value, int distance) const {
    return by_words(value, [=](unsigned word) { return __shfl_down_sync(whole_warp, word, unsigned(distance)); });
  }
  template <class T> __device__ T shuffle_xor(T value, int distance) const {
    return by_words(value, [=](unsigned word) { return __shfl_xor_sync(whole_warp, word, distance); });
  }

  __device__ void set_condition([[maybe_unused]] std::uint64_t condition, [[maybe_unused]] unsigned number) const {
#if CUDART_VERSION >= 12040
    cudaGraphSetConditional(condition, number);
#endif
  }

 private:
  static constexpr unsigned whole_warp = 0xffffffffU;

  template <class T, class Shuffle> static __device__ T by_words(T value, Shuffle shuffle) {
    unsigned words[(sizeof(T) + sizeof(unsigned) - 1) / sizeof(unsigned)] = {};
    memcpy(words, &value, sizeof(T));
    for (unsigned& word : words) word = shuffle(word);
    memcpy(&value, words, sizeof(T));
    return value;
  }
};

static_assert(cluster_block<device_block>);

namespace detail {

/// The most threads that a kernel is launched with: its `max_threads` if it has one, else the limit of all kernels.
template <class K> constexpr int max_threads_of() {
  if constexpr (requires { K::max_threads; }) return K::max_threads;
  else return 1024;
}

/// The blocks that a multiprocessor is to hold at least: a kernel's `min_blocks` if it has one; 0 leaves it to ptxas,
/// which weighs them against spills.
template <class K> constexpr int min_blocks_of() {
  if constexpr (requires { K::min_blocks; }) return K::min_blocks;
  else return 0;
}

template <class K>
__global__ void __launch_bounds__(max_threads_of<K>(), min_blocks_of<K>())
    entry(const __grid_constant__ typename K::arguments arguments) {
  K::run(device_block{}, arguments);
}

/// The kernel's address, untyped: CUDA 12's overloads for typed ones do not take that of a template's instance.
template <class K> const void* function_of() { return reinterpret_cast<const void*>(&entry<K>); }

/// The architecture whose code has clusters.
inline constexpr int first_with_clusters = 90;

/// The shared memory that a block may have without a function attribute.
inline constexpr std::size_t always_shared_bytes = 48 * 1024;

/// Allows a launch that needs more than the default. Never lowers the limit: graphs may have launches with more.
inline status allow(const void* function, const launch_shape& shape) {
  if (shape.shared_bytes > always_shared_bytes) {
    static std::mutex mutex; // another thread may ask for more between the question and the call
    const std::lock_guard lock(mutex);
    cudaFuncAttributes now;
    if (const cudaError_t asked = cudaFuncGetAttributes(&now, function); asked != cudaSuccess)
      return runtime_status("cudaFuncGetAttributes", asked);
    const int wanted = static_cast<int>(shape.shared_bytes);
    if (now.maxDynamicSharedSizeBytes < wanted)
      if (const cudaError_t raised =
              cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, wanted);
          raised != cudaSuccess)
        return runtime_status("cudaFuncSetAttribute", raised);
  }
  if (shape.cluster > unsigned(portable_cluster)) {
    const cudaError_t allowed = cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (allowed != cudaSuccess) return runtime_status("cudaFuncSetAttribute", allowed);
  }
  return {};
}

/// The description of a launch with clusters; not copied, since the description points into itself.
struct clustered_launch {
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};

  clustered_launch(const launch_shape& shape, cudaStream_t stream) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = shape.cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(shape.blocks);
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  clustered_launch(const clustered_launch&) = delete;
  clustered_launch& operator=(const clustered_launch&) = delete;
};

} // namespace detail

/// Launches of `device_kernel`s.
struct device_launches {
  /// Enqueues a kernel on `stream`; a launch of no blocks is none. The kernel is deduced from a value, because a launch
  /// may not spell a type that depends on the user's function. Blocks whose threads cooperate hold whole warps.
  template <device_kernel K>
  static status launch(K, const launch_shape& shape, cudaStream_t stream, const typename K::arguments& arguments) {
    static_assert(sizeof(typename K::arguments) <= 32764, "CUDA passes at most 32764 bytes of arguments to a kernel");
    if (shape.blocks == 0) return {};
    if (shape.threads > unsigned(detail::max_threads_of<K>()) || (K::barriers && shape.threads % warp_size != 0))
      return detail::runtime_status("a kernel's launch", cudaErrorInvalidConfiguration);
    void* values[] = {const_cast<typename K::arguments*>(&arguments)};
    if (const status s = detail::allow(detail::function_of<K>(), shape); !s.ok()) return s;
    if (shape.cluster == 1)
      return detail::runtime_status("cudaLaunchKernel",
                                    cudaLaunchKernel(detail::function_of<K>(), dim3(shape.blocks), dim3(shape.threads),
                                                     values, shape.shared_bytes, stream));
    const detail::clustered_launch clustered(shape, stream);
    return detail::runtime_status("cudaLaunchKernelExC",
                                  cudaLaunchKernelExC(&clustered.config, detail::function_of<K>(), values));
  }

  /// The number is 0 for clusters that are too large, and for code compiled for devices without clusters.
  template <device_kernel K> static status clusters_at_once(int& count, K, const launch_shape& shape) {
    count = 0;
    cudaFuncAttributes compiled;
    if (const cudaError_t asked = cudaFuncGetAttributes(&compiled, detail::function_of<K>()); asked != cudaSuccess)
      return detail::runtime_status("cudaFuncGetAttributes", asked);
    if (compiled.ptxVersion < detail::first_with_clusters) return {};
    if (const status s = detail::allow(detail::function_of<K>(), shape); !s.ok()) return s;
    const detail::clustered_launch clustered(shape, nullptr);
    const cudaError_t code = cudaOccupancyMaxActiveClusters(&count, detail::function_of<K>(), &clustered.config);
    if (code == cudaSuccess || code != cudaErrorInvalidClusterSize)
      return detail::runtime_status("cudaOccupancyMaxActiveClusters", code);
    std::ignore = cudaGetLastError();
    count = 0;
    return {};
  }
};

/// The policy of files that launch kernels and leave the rest to a library.
struct kernel_launches : device_launches {
  using stream = cudaStream_t;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
