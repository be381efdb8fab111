// One logical array whose pieces lie on several devices: a pmap's result, which another pmap takes without moving it.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/check_pieces.hpp>
#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/arrays/memory/slices.hpp>
#include <parallax/arrays/memory/transfers.hpp>
#include <parallax/arrays/pieces.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/support/small_vector.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace runtime {

/// Counts the bytes that the host has read of pieces on virtual devices. Bytes of other devices are counted when they
/// are copied.
inline void count_read(const buffer& piece, std::size_t bytes) {
  if (piece.on_device() == nullptr) count_device_to_host(bytes);
}

/// The shape argument of an array without its first dimension.
template <class Extents> struct without_first;
template <std::int64_t First, std::int64_t... Rest> struct without_first<extents_t<First, Rest...>> {
  static constexpr auto shape = shape_for<extents_t<Rest...>>;
};

} // namespace runtime

/// A logical array of elements of type `T` and shape `Shape` (as of `array`) whose pieces lie on several devices. Each
/// piece is the array at one index of every mapped dimension; devices that agree in these indices hold copies of it.
/// Copies of a sharded array share its pieces. An array that was moved from may be assigned to or destroyed; a function
/// that needs its pieces throws `error`.
template <element T, auto Shape> class sharded {
 public:
  using value_type = T;
  using extents_type = typename array<T, Shape>::extents_type;
  using shape_type = typename array<T, Shape>::shape_type;
  static constexpr int rank = array<T, Shape>::rank;
  using numbers = runtime::recycled_vector<int>;

  /// Zeros, on device 0.
  sharded() {
    array<T, Shape> zeros;
    *this = adopt(zeros.shape(), {0}, {}, {zeros.storage()});
  }

  /// The array of `shape` whose piece on `devices[p]` is `shards[p]`, row-major and without the dimensions that `axes`
  /// names. Throws `shape_error` if these do not fit together.
  static sharded adopt(const shape_type& shape, const std::vector<int>& devices,
                       const std::vector<detail::shard_axis>& axes, std::vector<detail::buffer> shards) {
    return of_pieces(shape, {devices.begin(), devices.end()}, {axes.begin(), axes.end()},
                     {std::make_move_iterator(shards.begin()), std::make_move_iterator(shards.end())});
  }
  /// Like `adopt`, from lists that the array keeps without a copy. If `others_have_some`, other processes have the
  /// missing pieces; asking for one of these throws `error`.
  static sharded of_pieces(const shape_type& shape, numbers devices, runtime::recycled_vector<detail::shard_axis> axes,
                           runtime::recycled_vector<detail::buffer> shards, bool others_have_some = false) {
    sharded result(unset{});
    runtime::check_static_extents<extents_type>(shape);
    result.element_total = runtime::checked_size(shape, sizeof(T));
    result.lengths = shape;
    result.device_numbers = std::move(devices);
    result.cut_axes = std::move(axes);
    result.owned = std::move(shards);
    result.is_part = others_have_some;
    runtime::check_pieces(shape, sizeof(T), result.device_numbers, result.cut_axes, result.owned, others_have_some);
    return result;
  }

  /// The same elements with other extents static; shares the pieces. Throws `shape_error` if a static extent differs.
  template <auto Other>
    requires(Other != Shape && runtime::extents_agree<extents_type, detail::extents_of<Other>>())
  sharded(const sharded<T, Other>& other)
      : sharded(of_pieces(other.shape(), other.devices(), other.axes(), other.all_pieces(), other.has_part())) {}

  /// The extents of the logical array.
  const shape_type& shape() const { return lengths; }
  /// The extent along `axis`; a negative axis counts from the last.
  std::int64_t shape(int axis) const { return lengths[detail::index_of(runtime::checked_axis(axis, rank))]; }
  /// The number of elements of the logical array.
  std::int64_t size() const { return element_total; }

  /// The devices that hold a piece.
  const numbers& devices() const {
    pieces();
    return device_numbers;
  }
  /// The dimensions that are spread over the devices; none if each device holds the whole array.
  const runtime::recycled_vector<detail::shard_axis>& axes() const { return cut_axes; }

  /// The number of elements in each piece.
  std::int64_t shard_size() const {
    std::int64_t size = 1;
    for (int i = 0; i < rank; ++i)
      if (!is_mapped(i)) size *= shape(i);
    return size;
  }
  /// The memory of the piece at `position` of `devices()`. Throws `shape_error` for a position out of range.
  const detail::buffer& shard_buffer(int position) const {
    if (position < 0 || position >= detail::count_of(pieces()))
      throw shape_error("shard " + std::to_string(position) + " of an array on " + std::to_string(owned.size()) +
                        " devices");
    return owned[detail::index_of(position)];
  }
  /// The memory of all pieces, by position, and whether other processes have further pieces.
  const runtime::recycled_vector<detail::buffer>& all_pieces() const { return pieces(); }
  bool has_part() const { return is_part; }
  /// Whether this array has not been moved from.
  bool has_pieces() const noexcept { return !owned.empty(); }
  /// The elements of the piece at `position`, in row-major order, in place.
  std::span<const T> shard_values(int position) const {
    return {reinterpret_cast<const T*>(shard_buffer(position).data()), detail::index_of(shard_size())};
  }

  /// The whole array, on the host. Counts its bytes as moved from the devices to the host.
  array<T, Shape> gather() const {
    auto result = array<T, Shape>::uninitialised(lengths);
    runtime::copy_pieces_in(bytes_of(result), lengths, sizeof(T), cut_axes, pieces(), 0, 0);
    runtime::count_read(pieces()[0], bytes(element_total));
    return result;
  }
  /// The whole array on the host with other extents static. Throws `shape_error` if a static extent differs.
  template <auto Other>
    requires(runtime::extents_agree<detail::extents_of<Other>, extents_type>())
  operator array<T, Other>() const {
    return gather();
  }

  /// The element at `indices`, one per dimension; negative ones count from the end. Counts as moved to the host. Throws
  /// `shape_error` for an index out of bounds.
  template <std::integral... Index> T operator()(Index... indices) const {
    static_assert(sizeof...(Index) == std::size_t{rank}, "parallax: an array takes one index per dimension");
    const std::array<std::int64_t, sizeof...(Index)> given{static_cast<std::int64_t>(indices)...};
    std::int64_t position = 0, offset = 0;
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t index = runtime::checked_index(given[detail::index_of(axis)], shape(axis), axis);
      if (const detail::shard_axis* mapped = find_mapped(axis)) position += index * mapped->device_stride;
      else offset = offset * shape(axis) + index;
    }
    check_is_whole();
    runtime::count_read(pieces()[0], sizeof(T));
    return shard_values(static_cast<int>(position))[detail::index_of(offset)];
  }

  /// The element of an array that has only one. Counts as moved to the host. Throws `shape_error`.
  T item() const {
    if (element_total != 1) runtime::throw_no_single_element(lengths);
    check_is_whole();
    runtime::count_read(pieces()[0], sizeof(T));
    return shard_values(0)[0];
  }
  explicit operator T() const
    requires(rank == 0)
  {
    return item();
  }

  /// The array at `index` along the first dimension; a negative index counts from the end. If only that dimension is
  /// mapped, this is the piece of one device, shared and not moved; otherwise the slice is gathered and counted as
  /// moved. Throws `shape_error` for an index out of bounds.
  auto operator[](std::int64_t index) const
    requires(rank > 0)
  {
    using slice_type = array<T, runtime::without_first<extents_type>::shape>;
    index = runtime::checked_index(index, lengths[0], 0);
    typename slice_type::shape_type rest;
    std::copy(lengths.begin() + 1, lengths.end(), rest.begin());

    check_is_whole();
    std::int64_t first = 0;
    detail::small_vector<detail::shard_axis, max_rank> others;
    for (detail::shard_axis a : cut_axes) {
      if (a.axis == 0) first = index * a.device_stride;
      else others.push_back({a.axis - 1, a.size, a.device_stride});
    }
    if (is_mapped(0) && others.empty()) return slice_type::adopt(shard_buffer(static_cast<int>(first)), rest);

    slice_type result = slice_type::uninitialised(rest);
    const std::size_t skipped = is_mapped(0) ? 0 : detail::index_of(index) * bytes(shard_size() / lengths[0]);
    runtime::copy_pieces_in(bytes_of(result), rest, sizeof(T), {others.begin(), others.end()}, pieces(), first,
                            skipped);
    runtime::count_read(pieces()[0], bytes(result.size()));
    return result;
  }

 private:
  struct unset {
    explicit unset() = default;
  };
  explicit sharded(unset) {}

  const runtime::recycled_vector<detail::buffer>& pieces() const {
    if (owned.empty()) throw error("sharded: it was moved from, so that it has no pieces");
    return owned;
  }

  static std::size_t bytes(std::int64_t elements) { return detail::index_of(elements) * sizeof(T); }
  template <auto S> static std::byte* bytes_of(array<T, S>& a) {
    return reinterpret_cast<std::byte*>(a.mutable_data());
  }

  void check_is_whole() const {
    if (is_part) runtime::check_all_pieces(cut_axes, pieces().size());
  }

  const detail::shard_axis* find_mapped(int axis) const {
    auto found = std::find_if(cut_axes.begin(), cut_axes.end(),
                              [&](const detail::shard_axis& each) { return each.axis == axis; });
    return found == cut_axes.end() ? nullptr : &*found;
  }
  bool is_mapped(int axis) const { return find_mapped(axis) != nullptr; }

  shape_type lengths{};
  std::int64_t element_total = 0;
  numbers device_numbers;
  runtime::recycled_vector<detail::shard_axis> cut_axes;
  runtime::recycled_vector<detail::buffer> owned;
  bool is_part = false; ///< other processes have further pieces
};

template <class T, auto Shape> array(const sharded<T, Shape>&) -> array<T, Shape>;

} // namespace parallax::PARALLAX_INLINE_VERSION
