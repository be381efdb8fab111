// Meshes of devices, and how the dimensions of an array lie along their axes.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/small_vector.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

/// An axis of a mesh: its name, of up to 31 characters, and the number of devices along it, if that is known while
/// compiling. A string alone names an axis whose size is open.
struct device_axis {
  std::array<char, 32> text{}; // one type for all names: nvcc 13.0 cannot write lists of values of different types
  std::int64_t size = dyn;

  template <std::size_t N>
    requires(N <= 32)
  // NOLINTNEXTLINE(google-explicit-constructor): a string is an axis
  constexpr device_axis(const char (&name)[N], std::int64_t devices = dyn) : size(devices) {
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
  }
  /// Takes its members: nvcc 13.0 writes template arguments so.
  constexpr device_axis(const std::array<char, 32>& name, std::int64_t devices) : text(name), size(devices) {}
  constexpr std::string_view name() const { return {text.data()}; }
};

/// The type of `mesh<...>`: an empty class that lists the axes.
template <device_axis... Axes> struct mesh_t {
  static constexpr int rank = static_cast<int>(sizeof...(Axes));
  static constexpr std::array<device_axis, sizeof...(Axes)> axes{Axes...};
  static constexpr std::string_view name(int axis) { return axes[detail::index_of(axis)].name(); }
  static constexpr std::int64_t size(int axis) { return axes[detail::index_of(axis)].size; }

  static_assert(rank >= 1 && rank <= 4, "parallax: a mesh has 1 to 4 axes");
  static_assert(
      [] {
        for (int k = 0; k < rank; ++k)
          if (size(k) < 1 && (k > 0 || size(0) != dyn)) return false;
        return true;
      }(),
      "parallax: the size of the first axis of a mesh may be open, those of the others are 1 or more");
  static_assert(
      [] {
        for (int k = 0; k < rank; ++k)
          for (int other = 0; other < k; ++other)
            if (name(k).empty() || name(other) == name(k)) return false;
        return !name(0).empty();
      }(),
      "parallax: each axis of a mesh has a name of its own");

  /// The number of devices for each index along the first axis.
  static constexpr std::int64_t devices_per_row() {
    std::int64_t devices = 1;
    for (int k = 1; k < rank; ++k) devices *= size(k);
    return devices;
  }
};

/// Devices in a grid, numbered row-major: `mesh<"data">`, `mesh<"data", device_axis("model", 4)>`. The size of the
/// first axis may be open: all devices, of all processes together, then lie on the mesh. JAX: Mesh
template <device_axis... Axes> inline constexpr mesh_t<Axes...> mesh{};

/// The axes of a mesh that one dimension of an array lies along: a name, `none`, or `along("data", "model")`.
struct spec_entry {
  std::array<char, 64> text{}; ///< names, each ended by a zero
  std::size_t length = 0;

  constexpr spec_entry() = default;
  // NOLINTBEGIN(google-explicit-constructor): a name and none are entries
  template <std::size_t N>
    requires(N <= 64)
  constexpr spec_entry(const char (&name)[N]) {
    add(name);
  }
  constexpr spec_entry(none_t) {}
  constexpr spec_entry(const std::array<char, 64>& names, std::size_t end) : text(names), length(end) {}
  // NOLINTEND(google-explicit-constructor)

  template <std::size_t N> constexpr void add(const char (&name)[N]) {
    for (char c : name) text[length++] = c;
  }
  /// Calls `visit` with each name.
  template <class Visit> constexpr void for_each_name(const Visit& visit) const {
    for (std::size_t begin = 0; begin < length;) {
      const std::string_view name(text.data() + begin);
      if (!name.empty()) visit(name);
      begin += name.size() + 1;
    }
  }
};

/// Several axes of a mesh along one dimension of an array, the slowest first.
template <std::size_t... N>
  requires((N + ...) <= 64)
constexpr spec_entry along(const char (&... names)[N]) {
  spec_entry entry;
  (entry.add(names), ...);
  return entry;
}

/// The type of `spec<...>`.
template <spec_entry... Entries> struct spec_t {
  static constexpr std::size_t size = sizeof...(Entries);
  static constexpr std::array<spec_entry, size> entries{Entries...};
};

/// How an array lies on a mesh: an entry for each dimension; the last entries may be left out. With `spec<>`, each
/// device has the whole array. JAX: PartitionSpec, P
template <spec_entry... Entries> inline constexpr spec_t<Entries...> spec{};

namespace detail {

/// Which dimensions of an array are cut along which axes of a mesh, by their numbers.
struct partition {
  struct cuts {
    std::array<int, max_rank> axes{}; ///< the slowest first
    int count = 0;
    friend constexpr bool operator==(const cuts&, const cuts&) = default;
  };
  enum class fault { no_fault, no_such_axis, axis_again, too_many_entries };

  std::array<cuts, max_rank> dimensions{};
  int entries = 0; ///< dimensions up to the last one that is cut
  fault wrong = fault::no_fault;

  friend constexpr bool operator==(const partition&, const partition&) = default;

  constexpr bool has(int axis) const {
    for (int d = 0; d < entries; ++d)
      for (int i = 0; i < dimensions[index_of(d)].count; ++i)
        if (dimensions[index_of(d)].axes[index_of(i)] == axis) return true;
    return false;
  }
  /// The number of axes that cut dimension `d`.
  constexpr int cuts_of(int d) const { return d < entries ? dimensions[index_of(d)].count : 0; }
  /// The number of axes that cut any dimension.
  constexpr int cut_count() const {
    int count = 0;
    for (int d = 0; d < entries; ++d) count += dimensions[index_of(d)].count;
    return count;
  }
  /// The position of an axis' own dimension in an array that is cut along this partition, where each dimension is
  /// preceded by those of the axes that cut it. Axes below `first` are not counted: they have been mapped. `unmapped`
  /// if the axis cuts no dimension.
  constexpr int place_of(int axis, int first = 0) const {
    int place = 0;
    for (int d = 0; d < entries; ++d) {
      const cuts& own = dimensions[index_of(d)];
      for (int i = 0; i < own.count; ++i) {
        if (own.axes[index_of(i)] == axis) return place;
        if (own.axes[index_of(i)] >= first) ++place;
      }
      ++place;
    }
    return unmapped;
  }
};

/// The partition that a spec describes, by the numbers of a mesh's axes.
template <class Mesh, class Spec> constexpr partition partition_of(Spec) {
  partition result;
  if (Spec::size > index_of(max_rank)) {
    result.wrong = partition::fault::too_many_entries;
    return result;
  }
  std::size_t d = 0;
  for (const spec_entry& entry : Spec::entries) {
    entry.for_each_name([&](std::string_view name) {
      int axis = 0;
      while (axis < Mesh::rank && Mesh::name(axis) != name) ++axis;
      if (axis == Mesh::rank) result.wrong = partition::fault::no_such_axis;
      else if (result.has(axis)) result.wrong = partition::fault::axis_again;
      if (result.wrong != partition::fault::no_fault) return;
      result.entries = static_cast<int>(d) + 1;
      partition::cuts& own = result.dimensions[d];
      own.axes[index_of(own.count++)] = axis;
    });
    ++d;
  }
  return result;
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION
