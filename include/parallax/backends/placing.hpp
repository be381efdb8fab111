// Putting arrays on devices.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/memory/slices.hpp>
#include <parallax/arrays/memory/transfers.hpp>
#include <parallax/arrays/sharded.hpp>
#include <parallax/backends/default_backend.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// Copies bytes to a device of the default backend; null if the devices are the host's. Counts them as moved to the
/// device in either case. Throws `error` if there is no such GPU, and `out_of_memory`.
inline buffer on_gpu(int device, const std::byte* first, std::size_t bytes) {
  if (bytes > 0 && default_backend() == backend::cuda)
    return cuda_backend_of_process.load(std::memory_order_acquire)->place(device, first, bytes);
  runtime::count_host_to_device(bytes);
  return {};
}
/// A piece on a device; if the device is the host's, the piece keeps its memory.
inline buffer placed_on(int device, buffer piece) {
  buffer there = on_gpu(device, piece.data(), piece.bytes());
  return there.is_null() ? std::move(piece) : std::move(there);
}
/// A copy on a device.
inline buffer copied_to(int device, const std::byte* first, std::size_t bytes) {
  buffer copy = on_gpu(device, first, bytes);
  if (!copy.is_null()) return copy;
  copy = buffer::allocate(bytes);
  runtime::copy_bytes(copy.data(), first, bytes);
  return copy;
}

} // namespace detail

/// Spreads the dimension `axis` of a host array over `devices`, one index to each. A negative axis counts from the
/// last. Counts the bytes as moved to the devices. Throws `shape_error` unless there are as many devices as indices.
template <class T, auto Shape>
sharded<T, Shape> shard(const array<T, Shape>& whole, int axis, detail::plain_span<const int> devices) {
  axis = runtime::checked_axis(axis, array<T, Shape>::rank);
  const detail::plain_span<const std::int64_t> shape = whole.shape();
  const std::int64_t count = whole.shape(axis);
  if (count != std::ssize(devices) || count == 0)
    throw shape_error("shard: axis " + std::to_string(axis) + " of the shape " + runtime::shape_text(shape) + " over " +
                      std::to_string(devices.size()) + " devices");
  const auto before = detail::index_of(axis);
  const std::int64_t before_size = runtime::product(shape.first(before));
  const std::size_t inner = detail::index_of(runtime::product(shape.subspan(before + 1))) * sizeof(T);
  std::vector<detail::buffer> shards;
  for (std::int64_t index = 0; index < count; ++index) {
    detail::buffer piece = detail::buffer::allocate(detail::index_of(before_size) * inner);
    runtime::copy_slice_out(whole.storage().data(), piece.data(), before_size, count, inner, index);
    shards.push_back(detail::placed_on(devices[detail::index_of(index)], std::move(piece)));
  }
  return sharded<T, Shape>::adopt(whole.shape(), {devices.begin(), devices.end()}, {{axis, count, 1}},
                                  std::move(shards));
}

/// Puts a copy of a host array on each of `devices`. Counts the bytes as moved to the devices. Throws `shape_error`
/// without devices.
template <class T, auto Shape>
sharded<T, Shape> replicate(const array<T, Shape>& whole, detail::plain_span<const int> devices) {
  const std::size_t bytes = detail::index_of(whole.size()) * sizeof(T);
  std::vector<detail::buffer> shards;
  for (const int device : devices) shards.push_back(detail::copied_to(device, whole.storage().data(), bytes));
  return sharded<T, Shape>::adopt(whole.shape(), {devices.begin(), devices.end()}, {}, std::move(shards));
}

} // namespace parallax::PARALLAX_INLINE_VERSION
