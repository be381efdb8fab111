// Device 0 as benchmarks use it: its stream, arrays that lie on it, and how far two of them are apart.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/nvidia/runtime_api.cuh>
#include <parallax/parallax.hpp>

#include "gpu_case.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

namespace plx = parallax;
using api = plx::cuda::runtime_api;
using gpu_backend = plx::cuda::backend<api>;

/// The device that is measured, and the current one, which the libraries' calls go by.
inline plx::cuda::device<api>& device() {
  static plx::cuda::device<api>& first = []() -> auto& {
    auto& made = gpu_backend::instance().device_at(0);
    made.activate(); // making the others has left the last of them current
    return made;
  }();
  return first;
}
inline cudaStream_t stream() { return device().stream(); }

/// Throws unless the condition holds.
inline void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

/// The first element of an array that lies on device 0.
template <class T, auto Shape> T* data_of(const plx::array<T, Shape>& x) {
  auto* memory = plx::cuda::allocation_of<api>(x.storage());
  require(memory != nullptr && &memory->home == &device(), "the array does not lie on device 0");
  return reinterpret_cast<T*>(memory->address());
}

/// An array on device 0 whose elements are yet to be written.
template <class T, int Rank> plx::array<T, Rank> uninitialised(const std::array<std::int64_t, Rank>& shape) {
  std::size_t bytes = sizeof(T);
  for (std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  return plx::array<T, Rank>::adopt(plx::cuda::allocate<api>(device(), bytes), shape);
}

/// The elements of a result in one piece on device 0, and their number.
template <class T, auto Shape> plx::array<T, 1> on_device(const plx::array<T, Shape>& x) {
  if (plx::cuda::allocation_of<api>(x.storage()) != nullptr) return plx::array<T, 1>::adopt(x.storage(), {x.size()});
  return plx::array<T, 1>::adopt(plx::cuda::upload<api>(device(), reinterpret_cast<const std::byte*>(x.data()),
                                                        static_cast<std::size_t>(x.size()) * sizeof(T)),
                                 {x.size()});
}
template <class T, auto Shape> plx::array<T, 1> on_device(const plx::sharded<T, Shape>& x) {
  return on_device(x.gather());
}

/// Calls a program, and keeps its result until the next call.
template <class Call> std::function<void()> kept_result(Call call) {
  return [call, kept = std::make_shared<std::optional<decltype(call())>>()] { *kept = call(); };
}

/// Different numbers between -1 and 1: zeros would be multiplied faster.
template <class T> struct fill_kernel {
  struct arguments {
    T* x;
    std::int64_t count;
    std::uint32_t seed;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    const std::int64_t step = block.blocks() * block.threads();
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < a.count; i += step) {
      std::uint32_t bits = (static_cast<std::uint32_t>(i) ^ a.seed) * 2654435761U;
      bits = (bits ^ bits >> 15) * 2246822519U;
      block.store(a.x + i, static_cast<T>(static_cast<float>(bits >> 8) * 0x1p-23f - 1.f));
    }
  }
};

/// An array on device 0 of different numbers between -1 and 1, the same for the same seed.
template <class T, int Rank>
plx::array<T, Rank> random_array(const std::array<std::int64_t, Rank>& shape, unsigned seed) {
  auto result = uninitialised<T, Rank>(shape);
  device().activate();
  plx::cuda::check(api::launch(fill_kernel<T>{}, {4096, 256, 0}, stream(), {data_of(result), result.size(), seed}));
  return result;
}

/// The larger one; what is no number stays.
PARALLAX_HD inline double farther(double next, double largest) {
  return largest != largest || next <= largest ? largest : next;
}

/// The largest difference of two arrays, and the largest number of the second, as far as each thread has seen them.
template <class T> struct difference_kernel {
  struct arguments {
    const T* x;
    const T* y;
    double* largest; ///< two of each thread
    std::int64_t count;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    const std::int64_t step = block.blocks() * block.threads();
    const std::int64_t first = block.block() * block.threads() + block.thread();
    double difference = 0, size = 0;
    for (std::int64_t i = first; i < a.count; i += step) {
      const double x = static_cast<double>(block.load(a.x + i)), y = static_cast<double>(block.load(a.y + i));
      const double apart = x < y ? y - x : x - y, magnitude = y < 0 ? -y : y;
      difference = farther(apart, difference);
      size = farther(magnitude, size);
    }
    block.store(a.largest + 2 * first, difference);
    block.store(a.largest + 2 * first + 1, size);
  }
};

/// Throws unless both arrays on device 0 are the same within `tolerance` of the second's largest element.
template <class T>
void require_close(const T* x, const T* y, std::int64_t count, double tolerance, const std::string& what) {
  constexpr unsigned blocks = 128, threads = 256;
  const auto largest = uninitialised<double, 1>({2 * blocks * threads});
  device().activate();
  plx::cuda::check(
      api::launch(difference_kernel<T>{}, {blocks, threads, 0}, stream(), {x, y, data_of(largest), count}));
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < std::size_t{2} * blocks * threads; i += 2) {
    difference = farther(largest.values()[i], difference);
    size = farther(largest.values()[i + 1], size);
  }
  require(size > 0, what + ": all results are zero");
  require(difference <= tolerance * size,
          what + ": results differ by " + std::to_string(difference) + ", the largest is " + std::to_string(size));
}

/// Waits for all that was enqueued, and makes the device of `stream()` the current one again.
inline void wait() {
  gpu_backend::instance().wait_for_all();
  device().activate();
}

} // namespace bench
