// What the checks use of a GPU: a stream, and arrays in its memory.
#pragma once

#include <parallax/cuda/devices/handles.hpp>
#include <parallax/cuda/nvidia/runtime_api.cuh>

#include "check.hpp"

#include <chrono>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace gpu {

using api = parallax::cuda::runtime_api;
using parallax::cuda::is_ready;
using parallax::cuda::unique_event;
using parallax::cuda::unique_stream;
// its own name would hide the checks'
inline void ok(const parallax::cuda::status& what,
               const std::source_location& where = std::source_location::current()) {
  parallax::cuda::check(what, -1, where);
}

/// Calls `is_over` until it is true, for a minute at most.
template <class Predicate> void wait_until(Predicate is_over) {
  const auto start = std::chrono::steady_clock::now();
  while (!is_over())
    if (std::chrono::steady_clock::now() - start > std::chrono::minutes(1))
      throw std::runtime_error("waited for a minute");
}

/// A stream of a device, which is made the current one.
class queue {
 public:
  explicit queue(int device = 0) : stream_(made_on(device)) {}
  cudaStream_t get() const { return stream_.get(); }
  void wait() const {
    wait_until([&] { return is_ready(api::query_stream(get())); });
  }

 private:
  static unique_stream<api> made_on(int device) {
    ok(api::set_device(device));
    return {};
  }
  unique_stream<api> stream_;
};

/// Pinned host memory.
class pinned_bytes {
 public:
  explicit pinned_bytes(std::size_t bytes) { ok(api::allocate_pinned(memory_, bytes)); }
  pinned_bytes(const pinned_bytes&) = delete;
  pinned_bytes& operator=(const pinned_bytes&) = delete;
  ~pinned_bytes() { parallax::cuda::kept_failure::keep(api::release_pinned(memory_)); }
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

/// Elements in the memory of the device that is current when it is made. The queue outlives it.
template <class T> class device_array {
 public:
  /// Uninitialised elements.
  device_array(const queue& on, std::size_t count) : on_(on), count_(count) {
    ok(api::allocate(memory_, count * sizeof(T), on.get()));
  }
  device_array(const queue& on, const std::vector<T>& values) : device_array(on, values.size()) {
    pinned_bytes staged(count_ * sizeof(T));
    if (count_ > 0) std::memcpy(staged.get(), values.data(), count_ * sizeof(T));
    ok(api::copy_to_device(memory_, staged.get(), count_ * sizeof(T), on.get()));
    on.wait();
  }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;
  ~device_array() { parallax::cuda::kept_failure::keep(api::release(memory_, on_.get())); }

  T* data() const { return static_cast<T*>(memory_); }
  std::size_t size() const { return count_; }

  /// The elements, when all work of the queue is done.
  std::vector<T> values() const {
    pinned_bytes staged(count_ * sizeof(T));
    ok(api::copy_to_host(staged.get(), memory_, count_ * sizeof(T), on_.get()));
    on_.wait();
    std::vector<T> result(count_);
    if (count_ > 0) std::memcpy(result.data(), staged.get(), count_ * sizeof(T));
    return result;
  }

 private:
  const queue& on_;
  std::size_t count_;
  void* memory_ = nullptr;
};

/// `count` different small numbers.
template <class T> std::vector<T> numbers(std::size_t count, unsigned seed = 1) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    values[i] = static_cast<T>(static_cast<int>(seed >> 24) % 7);
  }
  return values;
}

inline int device_count() {
  int count = 0;
  ok(api::device_count(count));
  return count;
}

} // namespace gpu
