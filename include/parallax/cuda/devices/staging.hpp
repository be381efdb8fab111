// Copies between the host and a device, through pinned memory, so that they run in the order of its stream.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/enqueue_threads.hpp>
#include <parallax/cuda/devices/handles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Called while the host waits; throws if the wait is in vain.
using while_waiting = const std::function<void()>&;

/// Copies memory of the host; large pieces by several threads, since one thread is slower than the bus.
inline void copy_by_threads(enqueue_threads& threads, std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  threads.run(static_cast<int>((bytes + piece - 1) / piece), [&](int k) {
    const std::size_t first = index_of(k) * piece;
    std::memcpy(to + first, from + first, std::min(piece, bytes - first));
  });
}

/// Pinned memory that one copy at a time goes through. Made while its device is current.
template <device_api Api> class pinned_block {
 public:
  const std::size_t bytes;

  explicit pinned_block(std::size_t size) : bytes(size) {
    void* made = nullptr;
    check(Api::allocate_pinned(made, bytes));
    memory = static_cast<std::byte*>(made);
  }
  pinned_block(const pinned_block&) = delete;
  pinned_block& operator=(const pinned_block&) = delete;
  ~pinned_block() {
    if (memory != nullptr) kept_failure::keep(Api::release_pinned(memory));
  }

  std::byte* data() const { return memory; }

  /// Includes the last copy on stream `on` in what `is_done` asks for.
  void expect(typename Api::stream on) {
    pending = true;
    check(Api::record_event(done.get(), on));
  }
  bool is_done() {
    if (pending) pending = !is_ready(Api::query_event(done.get()));
    return !pending;
  }
  void wait(while_waiting waiting) {
    while (!is_done()) waiting();
  }

 private:
  unique_event<Api> done; // declared before the memory, which is to be released first
  std::byte* memory = nullptr;
  bool pending = false;
};

/// Copies go in parts through blocks that are kept. No block is released before the device is, since a release may wait
/// for all work there. One thread at a time calls, and the device is current.
template <device_api Api> class staging {
 public:
  explicit staging(typename Api::stream ordered) : stream(ordered) {}

  /// Copies to the device, with the help of threads; `from` may be changed when this returns.
  void to_device(std::byte* to, const std::byte* from, std::size_t bytes, enqueue_threads& threads,
                 while_waiting waiting) {
    while (bytes > 0) {
      const std::size_t part = std::min(bytes, largest_bytes);
      block_pointer next = block_to_send(part, waiting);
      copy_by_threads(threads, next->data(), from, part);
      sent.push_back(std::move(next));
      sent_bytes += sent.back()->bytes;
      check(Api::copy_to_device(to, sent.back()->data(), part, stream));
      sent.back()->expect(stream);
      to += part, from += part, bytes -= part;
    }
  }

  /// Copies to the host, and waits for it. `beside_others(f)` calls `f` while it lets other threads call.
  template <class BesideOthers>
  void to_host(std::byte* to, const std::byte* from, std::size_t bytes, enqueue_threads& threads,
               const BesideOthers& beside_others, while_waiting waiting) {
    receipt going_on(*this);
    while (bytes > 0 || !going_on.parts.empty()) {
      while (bytes > 0 && going_on.parts.size() < 2) {
        const std::size_t size = std::min(bytes, largest_bytes);
        going_on.parts.push_back({free_block(size), to, size});
        pinned_block<Api>& block = *going_on.parts.back().block;
        check(Api::copy_to_host(block.data(), from, size, stream));
        block.expect(stream);
        to += size, from += size, bytes -= size;
      }
      beside_others([&] {
        const auto& [block, target, part] = going_on.parts.front();
        block->wait(waiting);
        copy_by_threads(threads, target, block->data(), part);
      });
      going_on.pop();
    }
  }

 private:
  using block_pointer = std::unique_ptr<pinned_block<Api>>;

  static constexpr std::size_t smallest_bytes = std::size_t{64} << 10;
  static constexpr std::size_t largest_bytes = std::size_t{4} << 20;
  /// The most bytes of blocks in flight to the device, so that calls need not wait for the device's earlier work.
  static constexpr std::size_t most_sent_bytes = 4 * largest_bytes;

  struct received_part {
    block_pointer block;
    std::byte* to;
    std::size_t bytes;
  };
  /// The parts in flight to the host. At the end their blocks become unused, even if copies are still going on.
  struct receipt {
    staging& owner;
    std::deque<received_part> parts{};

    explicit receipt(staging& of) : owner(of) {}
    receipt(const receipt&) = delete;
    receipt& operator=(const receipt&) = delete;
    ~receipt() {
      while (!parts.empty()) pop();
    }
    void pop() {
      owner.unused.push_back(std::move(parts.front().block));
      parts.pop_front();
    }
  };

  typename Api::stream stream;
  std::vector<block_pointer> unused; ///< some of them perhaps not done, after a failure
  std::deque<block_pointer> sent;    ///< the oldest first
  std::size_t sent_bytes = 0;

  block_pointer block_to_send(std::size_t bytes, while_waiting waiting) {
    while (!sent.empty() && (sent_bytes + largest_bytes > most_sent_bytes || sent.front()->is_done())) {
      sent.front()->wait(waiting);
      sent_bytes -= sent.front()->bytes;
      unused.push_back(std::move(sent.front()));
      sent.pop_front();
    }
    return free_block(bytes);
  }
  block_pointer free_block(std::size_t bytes) {
    const std::size_t size = bytes <= smallest_bytes ? smallest_bytes : largest_bytes;
    const auto found =
        std::find_if(unused.begin(), unused.end(), [&](auto& each) { return each->bytes == size && each->is_done(); });
    if (found == unused.end()) return std::make_unique<pinned_block<Api>>(size);
    block_pointer block = std::move(*found);
    unused.erase(found);
    return block;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
