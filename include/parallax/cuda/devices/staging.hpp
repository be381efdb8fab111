// Copies between the host and a device, through pinned memory, so that they run in the order of its stream.
#pragma once

#include <parallax/cuda/devices/handles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <thread>

namespace parallax::cuda {

/// Called while the host waits; throws where waiting is vain.
using while_waiting = const std::function<void()>&;

/// Two pinned blocks in turn: one is copied while the host fills or reads the other. The device is current.
template <device_api Api> class staging {
 public:
  explicit staging(typename Api::stream ordered) : stream(ordered) {}

  /// Copies to the device; `from` may be changed when this returns.
  void to_device(std::byte* to, const std::byte* from, std::size_t bytes, while_waiting waiting) {
    while (bytes > 0) {
      block& b = next(bytes, waiting);
      const std::size_t part = std::min(bytes, block_bytes);
      std::memcpy(b.memory, from, part);
      check(Api::copy_to_device(to, b.memory, part, stream));
      record(b);
      to += part, from += part, bytes -= part;
    }
  }

  /// Copies to the host, and waits for it.
  void to_host(std::byte* to, const std::byte* from, std::size_t bytes, while_waiting waiting) {
    block* before = nullptr;
    std::byte* before_to = nullptr;
    std::size_t before_bytes = 0;
    auto finish = [&] {
      if (before == nullptr) return;
      wait(*before, waiting);
      std::memcpy(before_to, before->memory, before_bytes);
      before = nullptr;
    };
    while (bytes > 0) {
      block& b = next(bytes, waiting);
      const std::size_t part = std::min(bytes, block_bytes);
      check(Api::copy_to_host(b.memory, from, part, stream));
      record(b);
      finish();
      before = &b, before_to = to, before_bytes = part;
      to += part, from += part, bytes -= part;
    }
    finish();
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t{4} << 20;
  static constexpr std::size_t smallest_bytes = std::size_t{64} << 10;

  struct block {
    void* memory = nullptr;
    std::size_t bytes = 0;
    unique_event<Api> done;
    bool pending = false;

    block() = default;
    block(const block&) = delete;
    block& operator=(const block&) = delete;
    ~block() {
      if (memory) kept_failure::keep(Api::release_pinned(memory));
    }
  };

  /// The block whose turn it is, free, and large enough for as much of `bytes` as a block takes.
  block& next(std::size_t bytes, while_waiting waiting) {
    block& b = blocks[turn ^= 1];
    wait(b, waiting);
    if (const std::size_t wanted = std::min(bytes, block_bytes); b.bytes < wanted) {
      if (b.memory) {
        void* old = b.memory;
        b.memory = nullptr;
        b.bytes = 0;
        check(Api::release_pinned(old));
      }
      const std::size_t size = std::max(wanted, smallest_bytes);
      check(Api::allocate_pinned(b.memory, size));
      b.bytes = size;
    }
    return b;
  }
  void record(block& b) {
    b.pending = true;
    check(Api::record_event(b.done.get(), stream));
  }
  void wait(block& b, while_waiting waiting) {
    while (b.pending) {
      if (is_ready(Api::query_event(b.done.get()))) b.pending = false;
      else waiting();
    }
  }

  typename Api::stream stream;
  block blocks[2];
  unsigned turn = 0;
};

} // namespace parallax::cuda
