// Devices, memory, streams and events through the CUDA runtime.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/nvidia/runtime_status.cuh>
#include <parallax/runtime/environment.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The part of `device_api` that the CUDA runtime does.
struct runtime_calls {
  using stream = cudaStream_t;
  using event = cudaEvent_t;
  /// The data that scatters sort at a time stays in the cache of an A100 or H100, of 40 and 50 MB.
  static constexpr std::size_t scratch_bytes = std::size_t{16} << 20;

  /// The threads that enqueue: more than 16 would only wait for the driver.
  static int host_threads() { return environment_integer("PARALLAX_CUDA_THREADS", std::min(core_count(), 16), 1, 64); }

  /// The number of devices: 0 if there is none, or if the question fails. `unsupported` if there is no driver; a driver
  /// that is too old, or a device that does not work, is a failure.
  static status device_count(int& count) {
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess) count = 0;
    if (code == cudaErrorNoDevice) {
      std::ignore = cudaGetLastError();
      return {};
    }
    status asked = detail::runtime_status("cudaGetDeviceCount", code);
    int driver = 0;
    const bool has_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver != 0;
    if (code == cudaErrorStubLibrary || (code == cudaErrorInsufficientDriver && !has_driver))
      asked.is = status::kind::unsupported;
    return asked;
  }

  static status set_device(int device) { return detail::runtime_status("cudaSetDevice", cudaSetDevice(device)); }

  static status properties_of(device_properties& properties, int device) {
    cudaDeviceProp all;
    if (const cudaError_t code = cudaGetDeviceProperties(&all, device); code != cudaSuccess)
      return detail::runtime_status("cudaGetDeviceProperties", code);
    int has_clusters = 0;
    const cudaError_t code = cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, device);
    // clusters of 16 are possible if a kernel asks for more than all such devices support
    properties = {all.name, all.multiProcessorCount, all.sharedMemPerBlockOptin, all.totalGlobalMem,
                  has_clusters != 0 ? 2 * portable_cluster : 1};
    return detail::runtime_status("cudaDeviceGetAttribute", code);
  }

  /// Lets kernels and copies on `device` reach the memory that `allocate` takes on `owner`. `unsupported` if the
  /// hardware has no way; `copy_between` goes through the host then.
  static status enable_peer_access(int device, int owner) {
    if (device == owner) return {};
    int possible = 0;
    if (cudaError_t code = cudaDeviceCanAccessPeer(&possible, device, owner); code != cudaSuccess)
      return detail::runtime_status("cudaDeviceCanAccessPeer", code);
    if (possible == 0) return detail::runtime_status("cudaDeviceCanAccessPeer", cudaErrorPeerAccessUnsupported);
    // Memory of a pool has rights of its own: cudaDeviceEnablePeerAccess does not hold for it.
    cudaMemPool_t pool = nullptr;
    if (status s = pool_of(pool, owner); !s.ok()) return s;
    cudaMemAccessDesc access = {};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = device;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    return detail::runtime_status("cudaMemPoolSetAccess", cudaMemPoolSetAccess(pool, &access, 1));
  }

  /// Memory of the current device, usable by work that follows on `stream`; aligned to 256 bytes.
  static status allocate(void*& pointer, std::size_t bytes, stream on) {
    pointer = nullptr;
    if (bytes == 0) return {};
    cudaMemPool_t pool = nullptr;
    if (status s = current_pool(pool); !s.ok()) return s;
    return detail::runtime_status("cudaMallocFromPoolAsync", cudaMallocFromPoolAsync(&pointer, bytes, pool, on));
  }
  static status release(void* pointer, stream on) {
    if (pointer == nullptr) return {};
    return detail::runtime_status("cudaFreeAsync", cudaFreeAsync(pointer, on));
  }

  /// Memory that the pool keeps for later counts as free.
  static status memory_info(std::size_t& free, std::size_t& total) {
    if (cudaError_t code = cudaMemGetInfo(&free, &total); code != cudaSuccess)
      return detail::runtime_status("cudaMemGetInfo", code);
    cudaMemPool_t pool = nullptr;
    if (status s = current_pool(pool); !s.ok()) return s;
    std::uint64_t reserved = 0, used = 0;
    cudaError_t code = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved);
    if (code == cudaSuccess) code = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    free += reserved - used;
    return detail::runtime_status("cudaMemPoolGetAttribute", code);
  }

  static status trim_memory() {
    cudaMemPool_t pool = nullptr;
    if (status s = current_pool(pool); !s.ok()) return s;
    return detail::runtime_status("cudaMemPoolTrimTo", cudaMemPoolTrimTo(pool, 0));
  }

  /// Memory of the host that every device copies from and to without a detour.
  static status allocate_pinned(void*& pointer, std::size_t bytes) {
    pointer = nullptr;
    if (bytes == 0) return {};
    return detail::runtime_status("cudaHostAlloc", cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable));
  }
  static status release_pinned(void* pointer) { return detail::runtime_status("cudaFreeHost", cudaFreeHost(pointer)); }

  static status copy_to_device(void* to, const void* from, std::size_t bytes, stream on) {
    return detail::runtime_status("cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, on));
  }
  static status copy_to_host(void* to, const void* from, std::size_t bytes, stream on) {
    return detail::runtime_status("cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, on));
  }
  static status copy_between(void* to, int to_device, const void* from, int from_device, std::size_t bytes, stream on) {
    if (to_device == from_device)
      return detail::runtime_status("cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on));
    return detail::runtime_status("cudaMemcpyPeerAsync",
                                  cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, on));
  }
  static status copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                          std::size_t rows, stream on) {
    if (width == 0 || rows == 0) return {};
    // in one piece if the rows are contiguous: distances of rows are limited to 2^31 - 1
    if (rows == 1 || (to_pitch == width && from_pitch == width))
      return detail::runtime_status("cudaMemcpyAsync",
                                    cudaMemcpyAsync(to, from, width * rows, cudaMemcpyDeviceToDevice, on));
    return detail::runtime_status("cudaMemcpy2DAsync", cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows,
                                                                         cudaMemcpyDeviceToDevice, on));
  }
  static status fill_zero(void* pointer, std::size_t bytes, stream on) {
    return detail::runtime_status("cudaMemsetAsync", cudaMemsetAsync(pointer, 0, bytes, on));
  }

  /// A stream of the current device that does not wait for the default stream.
  static status create_stream(stream& created) {
    created = nullptr;
    return detail::runtime_status("cudaStreamCreateWithFlags",
                                  cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking));
  }
  static status destroy_stream(stream old) {
    if (old == nullptr) return {};
    return detail::runtime_status("cudaStreamDestroy", cudaStreamDestroy(old));
  }
  static status query_stream(stream asked) { return detail::runtime_status("cudaStreamQuery", cudaStreamQuery(asked)); }

  static status create_event(event& created) {
    created = nullptr;
    return detail::runtime_status("cudaEventCreateWithFlags",
                                  cudaEventCreateWithFlags(&created, cudaEventDisableTiming));
  }
  static status destroy_event(event old) {
    if (old == nullptr) return {};
    return detail::runtime_status("cudaEventDestroy", cudaEventDestroy(old));
  }
  static status record_event(event marked, stream on) {
    return detail::runtime_status("cudaEventRecord", cudaEventRecord(marked, on));
  }
  static status wait_event(stream waiting, event marked) {
    return detail::runtime_status("cudaStreamWaitEvent", cudaStreamWaitEvent(waiting, marked, cudaEventWaitDefault));
  }
  static status query_event(event asked) { return detail::runtime_status("cudaEventQuery", cudaEventQuery(asked)); }

 private:
  /// A device's pool: our own, so that other users of the device's default pool affect neither the memory that this one
  /// keeps nor the access to it. It keeps released memory, which would otherwise go back to the driver whenever a
  /// stream is waited for. Never destroyed: arrays with static storage may outlive any other object.
  static status pool_of(cudaMemPool_t& pool, int device) {
    static std::mutex mutex;
    static auto& all = *new std::map<int, cudaMemPool_t>;
    const std::scoped_lock lock(mutex);
    if (const auto known = all.find(device); known != all.end()) {
      pool = known->second;
      return {};
    }
    cudaMemPoolProps wanted = {};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.location.id = device;
    if (cudaError_t code = cudaMemPoolCreate(&pool, &wanted); code != cudaSuccess)
      return detail::runtime_status("cudaMemPoolCreate", code);
    std::uint64_t kept = UINT64_MAX;
    if (cudaError_t code = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept); code != cudaSuccess)
      return detail::runtime_status("cudaMemPoolSetAttribute", code);
    all.emplace(device, pool);
    return {};
  }
  static status current_pool(cudaMemPool_t& pool) {
    int device = 0;
    if (cudaError_t code = cudaGetDevice(&device); code != cudaSuccess)
      return detail::runtime_status("cudaGetDevice", code);
    return pool_of(pool, device);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
