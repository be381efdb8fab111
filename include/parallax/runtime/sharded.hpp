// One logical array whose pieces lie on several devices: what a pmap returns and takes without moving it.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parallax/core/element_type.hpp"
#include "parallax/core/extents.hpp"
#include "parallax/runtime/array.hpp"
#include "parallax/runtime/buffer.hpp"
#include "parallax/runtime/errors.hpp"
#include "parallax/runtime/slices.hpp"
#include "parallax/runtime/transfers.hpp"

namespace parallax {

/// The logical dimension `axis`, of extent `size`, is spread over devices: the one at position p holds the index
/// (p / device_stride) % size of it.
struct shard_axis {
  int axis = 0;
  std::int64_t size = 1;
  std::int64_t device_stride = 1;

  std::int64_t index_at(std::int64_t position) const { return position / device_stride % size; }
  bool operator==(const shard_axis&) const = default;
};

namespace detail {

inline std::int64_t product(std::span<const std::int64_t> extents) {
  std::int64_t result = 1;
  for (std::int64_t extent : extents) result *= extent;
  return result;
}

/// The number of distinct pieces that `axes` cut an array into.
inline std::int64_t piece_count(std::span<const shard_axis> axes) {
  std::int64_t count = 1;
  for (const shard_axis& a : axes) count *= a.size;
  return count;
}

/// The lowest position that holds the piece of the given number, which counts the indices along `axes`, the last
/// fastest.
inline std::int64_t position_of_piece(std::span<const shard_axis> axes, std::int64_t number) {
  std::int64_t position = 0;
  for (std::size_t k = axes.size(); k-- > 0; number /= axes[k].size)
    position += number % axes[k].size * axes[k].device_stride;
  return position;
}

/// Puts the row-major array `whole` of `shape` together from its pieces. The piece at the position p of `axes` begins
/// `skipped` bytes into `shards[first + p]`.
inline void copy_pieces_in(std::byte* whole, std::span<const std::int64_t> shape, std::size_t element_bytes,
                           std::span<const shard_axis> axes, std::span<const buffer> shards, std::int64_t first,
                           std::size_t skipped) {
  const std::size_t whole_bytes = static_cast<std::size_t>(product(shape)) * element_bytes;
  if (whole_bytes == 0) return;
  std::vector<slice_level> levels;
  for (std::int64_t number = 0; number < piece_count(axes); ++number) {
    const std::int64_t position = position_of_piece(axes, number);
    levels.clear();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < shape.size(); ++i)
      for (const shard_axis& a : axes)
        if (a.axis == static_cast<int>(i)) {
          levels.push_back({product(shape.subspan(begin, i - begin)), a.size, a.index_at(position),
                            static_cast<std::size_t>(product(shape.subspan(i + 1))) * element_bytes});
          begin = i + 1;
        }
    const std::byte* piece = shards[static_cast<std::size_t>(first + position)].data() + skipped;
    for_each_run(levels, whole_bytes, [&](std::size_t offset, std::size_t bytes) {
      copy_bytes(whole + offset, piece, bytes);
      piece += bytes;
    });
  }
}

/// Counts bytes that the host has read of pieces on virtual devices. Those of other devices are counted where they are
/// copied.
inline void count_read(const buffer& piece, std::size_t bytes) {
  if (piece.on_device() == nullptr) count_device_to_host(bytes);
}

/// The shape argument of an array without its first dimension.
template <class Extents> struct without_first;
template <std::int64_t First, std::int64_t... Rest> struct without_first<extents_t<First, Rest...>> {
  static constexpr auto shape = shape_for<extents_t<Rest...>>;
};

} // namespace detail

/// A logical array of elements of type `T` and shape `Shape` (as of `array`) whose pieces lie on several devices. Each
/// piece is the array at one index of every mapped dimension; devices that agree in these indices hold copies of it.
/// Copies of a sharded array share its pieces.
template <element T, auto Shape> class sharded {
 public:
  using value_type = T;
  using extents_type = extents_of<Shape>;
  static constexpr int rank = extents_type::rank;
  using shape_type = std::array<std::int64_t, static_cast<std::size_t>(rank)>;

  /// Zeros, on device 0.
  sharded() {
    array<T, Shape> zeros;
    *this = adopt(zeros.shape(), {0}, {}, {zeros.storage()});
  }

  /// The array of `shape` whose piece on `devices[p]` is `shards[p]`, row-major and without the dimensions `axes`
  /// names. Throws `shape_error` where these do not fit together.
  static sharded adopt(const shape_type& shape, std::vector<int> devices, std::vector<shard_axis> axes,
                       std::vector<buffer> shards) {
    sharded result(unset{});
    detail::check_static_extents<extents_type>(shape);
    result.size_ = detail::checked_size(shape, sizeof(T));
    result.shape_ = shape;
    result.devices_ = std::move(devices);
    result.axes_ = std::move(axes);
    result.shards_ = std::move(shards);
    result.check();
    return result;
  }

  /// The extents of the logical array.
  const shape_type& shape() const { return shape_; }
  /// The extent along `axis`; a negative axis counts from the last.
  std::int64_t shape(int axis) const { return shape_[static_cast<std::size_t>(detail::checked_axis(axis, rank))]; }
  /// The number of elements of the logical array.
  std::int64_t size() const { return size_; }

  /// The devices that hold a piece.
  const std::vector<int>& devices() const { return devices_; }
  /// The dimensions that are spread over the devices; none where each device holds all.
  const std::vector<shard_axis>& axes() const { return axes_; }

  /// The number of elements in each piece.
  std::int64_t shard_size() const {
    std::int64_t size = 1;
    for (int i = 0; i < rank; ++i)
      if (!is_mapped(i)) size *= shape(i);
    return size;
  }
  /// The memory of the piece at `position` of `devices()`. Throws `shape_error` for a position out of range.
  const buffer& shard_buffer(int position) const {
    if (position < 0 || position >= static_cast<int>(shards_.size()))
      throw shape_error("shard " + std::to_string(position) + " of an array on " + std::to_string(shards_.size()) +
                        " devices");
    return shards_[static_cast<std::size_t>(position)];
  }
  /// The elements of that piece, in row-major order, where they lie.
  std::span<const T> shard_values(int position) const {
    return {reinterpret_cast<const T*>(shard_buffer(position).data()), static_cast<std::size_t>(shard_size())};
  }

  /// The whole array, on the host. Counts its bytes as moved from the devices to the host.
  array<T, Shape> gather() const {
    auto result = array<T, Shape>::uninitialised(shape_);
    detail::copy_pieces_in(bytes_of(result), shape_, sizeof(T), axes_, shards_, 0, 0);
    detail::count_read(shards_[0], bytes(size_));
    return result;
  }
  operator array<T, Shape>() const { return gather(); }

  /// The element at `indices`, one per dimension; negative ones count from the end. Counts as moved to the host. Throws
  /// `shape_error` for an index out of bounds.
  template <std::integral... Index> T operator()(Index... indices) const {
    static_assert(sizeof...(Index) == static_cast<std::size_t>(rank),
                  "parallax: an array takes one index per dimension");
    const std::array<std::int64_t, sizeof...(Index)> given{static_cast<std::int64_t>(indices)...};
    std::int64_t position = 0, offset = 0;
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t index = detail::checked_index(given[static_cast<std::size_t>(axis)], shape(axis), axis);
      if (const shard_axis* mapped = find_mapped(axis)) position += index * mapped->device_stride;
      else offset = offset * shape(axis) + index;
    }
    detail::count_read(shards_[0], sizeof(T));
    return shard_values(static_cast<int>(position))[static_cast<std::size_t>(offset)];
  }

  /// The array at `index` along the first dimension; a negative one counts from the end. Where only that dimension is
  /// mapped, this is the piece of one device, shared and not moved; otherwise the slice is gathered and counted as
  /// moved. Throws `shape_error` for an index out of bounds.
  auto operator[](std::int64_t index) const
    requires(rank > 0)
  {
    using slice = array<T, detail::without_first<extents_type>::shape>;
    index = detail::checked_index(index, shape_[0], 0);
    typename slice::shape_type rest;
    std::copy(shape_.begin() + 1, shape_.end(), rest.begin());

    std::int64_t first = 0;
    std::vector<shard_axis> others;
    for (shard_axis a : axes_) {
      if (a.axis == 0) first = index * a.device_stride;
      else others.push_back({a.axis - 1, a.size, a.device_stride});
    }
    if (is_mapped(0) && others.empty()) return slice::adopt(shard_buffer(static_cast<int>(first)), rest);

    slice result = slice::uninitialised(rest);
    const std::size_t skipped = is_mapped(0) ? 0 : static_cast<std::size_t>(index) * bytes(shard_size() / shape_[0]);
    detail::copy_pieces_in(bytes_of(result), rest, sizeof(T), others, shards_, first, skipped);
    detail::count_read(shards_[0], bytes(result.size()));
    return result;
  }

 private:
  struct unset {
    explicit unset() = default;
  };
  explicit sharded(unset) {}

  static std::size_t bytes(std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); }
  template <auto S> static std::byte* bytes_of(array<T, S>& a) {
    return reinterpret_cast<std::byte*>(a.mutable_data());
  }

  const shard_axis* find_mapped(int axis) const {
    auto found = std::ranges::find(axes_, axis, &shard_axis::axis);
    return found == axes_.end() ? nullptr : &*found;
  }
  bool is_mapped(int axis) const { return find_mapped(axis) != nullptr; }

  void check() const {
    if (devices_.empty() || devices_.size() != shards_.size())
      throw shape_error("sharded: " + std::to_string(shards_.size()) + " pieces for " +
                        std::to_string(devices_.size()) + " devices");
    for (const shard_axis& a : axes_) {
      if (a.axis < 0 || a.axis >= rank || find_mapped(a.axis) != &a || a.size < 1 || a.device_stride < 1 ||
          a.size != shape(a.axis))
        throw shape_error("sharded: axis " + std::to_string(a.axis) + " in " + std::to_string(a.size) +
                          " pieces does not fit the shape " + detail::shape_text(shape_));
    }
    for (const buffer& shard : shards_)
      if (shard.bytes() < bytes(shard_size()))
        throw shape_error("sharded: a piece of the shape " + detail::shape_text(shape_) + " takes " +
                          std::to_string(bytes(shard_size())) + " bytes, not " + std::to_string(shard.bytes()));
    for (std::int64_t number = 0; number < detail::piece_count(axes_); ++number) check_held(number);
  }
  // `position_of_piece` adds up indices times strides: that must name a device which holds these indices.
  void check_held(std::int64_t number) const {
    const std::int64_t position = detail::position_of_piece(axes_, number);
    bool held = position < static_cast<std::int64_t>(devices_.size());
    for (std::size_t k = axes_.size(); k-- > 0; number /= axes_[k].size)
      held = held && axes_[k].index_at(position) == number % axes_[k].size;
    if (!held)
      throw shape_error("sharded: " + std::to_string(devices_.size()) +
                        " devices do not hold all pieces of the shape " + detail::shape_text(shape_));
  }

  shape_type shape_{};
  std::int64_t size_ = 0;
  std::vector<int> devices_;
  std::vector<shard_axis> axes_;
  std::vector<buffer> shards_;
};

/// Spreads the dimension `axis` of a host array over `devices`, one index to each. A negative axis counts from the
/// last. Counts the bytes as moved to the devices. Throws `shape_error` unless there are as many devices as indices.
template <class T, auto Shape>
sharded<T, Shape> shard(const array<T, Shape>& whole, int axis, std::span<const int> devices) {
  axis = detail::checked_axis(axis, array<T, Shape>::rank);
  const std::span<const std::int64_t> shape = whole.shape();
  const std::int64_t count = whole.shape(axis);
  if (count != static_cast<std::int64_t>(devices.size()) || count == 0)
    throw shape_error("shard: axis " + std::to_string(axis) + " of the shape " + detail::shape_text(shape) + " over " +
                      std::to_string(devices.size()) + " devices");
  const auto before = static_cast<std::size_t>(axis);
  const std::int64_t outer = detail::product(shape.first(before));
  const std::size_t inner = static_cast<std::size_t>(detail::product(shape.subspan(before + 1))) * sizeof(T);
  std::vector<buffer> shards;
  for (std::int64_t index = 0; index < count; ++index) {
    shards.push_back(buffer::allocate(static_cast<std::size_t>(outer) * inner));
    detail::copy_slice_out(whole.storage().data(), shards.back().data(), outer, count, inner, index);
    detail::count_host_to_device(shards.back().bytes());
  }
  return sharded<T, Shape>::adopt(whole.shape(), {devices.begin(), devices.end()}, {{axis, count, 1}},
                                  std::move(shards));
}

/// Puts a copy of a host array on each of `devices`. Counts the bytes as moved to the devices. Throws `shape_error`
/// without devices.
template <class T, auto Shape> sharded<T, Shape> replicate(const array<T, Shape>& whole, std::span<const int> devices) {
  const std::size_t bytes = static_cast<std::size_t>(whole.size()) * sizeof(T);
  std::vector<buffer> shards;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    shards.push_back(buffer::allocate(bytes));
    detail::copy_bytes(shards.back().data(), whole.storage().data(), bytes);
    detail::count_host_to_device(bytes);
  }
  return sharded<T, Shape>::adopt(whole.shape(), {devices.begin(), devices.end()}, {}, std::move(shards));
}

} // namespace parallax
