// Others' memory on a device, with the stream that they use it on.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/runtime/result_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `count` elements from `first` on, in the memory of logical device `device`: `borrow` makes an array of them, and
/// `into` writes results to them. Work that their owner has enqueued on `stream`, a stream of that device, runs before
/// the programs' work on them. Work that the owner enqueues after the last array that shares them has ended, or after
/// the call whose results they are has returned, runs behind it. The host waits for nothing. If the backend is not
/// CUDA, or has no such device, their use throws `error`. `Calls` are the backend's: see `backend_calls`.
template <class Calls, class T> class device_elements {
 public:
  using value_type = T;

  device_elements(T* first, std::int64_t count, typename Calls::stream stream, int device = 0)
      : start(first), total(count), used_by(stream), number(device) {}

  /// The number of elements.
  std::int64_t size() const { return total; }

  /// The memory as programs know it. Throws errors of the device's calls.
  buffer lend() const {
    if (total == 0) return {};
    return Calls::lend(number, const_cast<std::remove_const_t<T>*>(start), index_of(total) * sizeof(T), used_by);
  }
  runtime::result_memory given() const
    requires(!std::is_const_v<T>)
  {
    return {reinterpret_cast<std::byte*>(start), lend(), total};
  }

 private:
  T* start;
  std::int64_t total;
  typename Calls::stream used_by;
  int number;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
