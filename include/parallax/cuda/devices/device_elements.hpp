// Memory of others on a device, with the stream that they use it on.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/runtime/result_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `count` elements from `first` on, in the memory of logical device `device`, which `borrow` makes an array of and
/// `into` writes results to. What their owner has enqueued on `stream`, which has to be of that device, comes before
/// what programs do with them. What is enqueued on it comes behind that, once the last array that shares them has
/// ended, or the call whose results they are has returned; the host waits for nothing. Where the backend is not CUDA,
/// or has no such device, their use throws `error`.
template <device_api Api, class T> class device_elements {
 public:
  using value_type = T;

  device_elements(T* first, std::int64_t count, typename Api::stream stream, int device = 0)
      : start(first), total(count), used_by(stream), number(device) {}

  /// The number of elements.
  std::int64_t size() const { return total; }

  /// The memory as programs know it. Throws what the device's calls give rise to.
  buffer lend() const {
    if (total == 0) return {};
    std::lock_guard lock(backend<Api>::mutex());
    auto* const first = const_cast<std::remove_const_t<T>*>(start);
    return buffer::adopt(std::make_unique<allocation<Api>>(backend<Api>::instance().device_at(number), first, used_by),
                         index_of(total) * sizeof(T), true);
  }
  runtime::result_memory given() const
    requires(!std::is_const_v<T>)
  {
    return {reinterpret_cast<std::byte*>(start), lend(), total};
  }

 private:
  T* start;
  std::int64_t total;
  typename Api::stream used_by;
  int number;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
