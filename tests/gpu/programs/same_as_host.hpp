// Programs on CUDA devices against the host backend, in one process.
#pragma once

#include "../check.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace gpu {

namespace plx = parallax;

/// Numbers that look random, from -scale to scale; of unsigned types from 0 on, of booleans both.
template <class T, int Rank>
plx::array<T, Rank> samples(const std::array<std::int64_t, Rank>& shape, double scale = 2, unsigned seed = 1) {
  auto result = plx::array<T, Rank>::uninitialised(shape);
  T* to = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) {
    seed = seed * 1664525U + 1013904223U;
    const double unit = static_cast<double>(seed >> 8) / 16777216.;
    if constexpr (std::is_same_v<T, bool>) to[i] = unit < 0.5;
    else if constexpr (std::is_unsigned_v<T>) to[i] = static_cast<T>(unit * scale);
    else to[i] = static_cast<T>((2 * unit - 1) * scale);
  }
  return result;
}

namespace detail {

template <class T, auto Shape> plx::array<T, Shape> on_host(const plx::array<T, Shape>& x) { return x; }
template <class T, auto Shape> plx::array<T, Shape> on_host(const plx::sharded<T, Shape>& x) { return x.gather(); }

template <class T> void require_same(T found, T expected, double tolerance, const std::string& what, std::size_t i) {
  bool same = found == expected;
  if constexpr (std::is_floating_point_v<T>) {
    same = same || (std::isnan(found) && std::isnan(expected)) ||
           std::abs(found - expected) <= tolerance * (1 + std::abs(expected));
  }
  require(same, what + ": element " + std::to_string(i) + " is " + std::to_string(found) + ", on the host " +
                    std::to_string(expected));
}

} // namespace detail

/// Throws unless a program gives on CUDA devices what it gives on the host: the same shapes, floating-point numbers
/// within `tolerance * (1 + |x|)`, all others exactly. It is called three times there, so that it runs step by step,
/// and as a CUDA graph that was just captured and that is replayed.
template <class Program, class... Arguments>
void same_as_host(const std::string& what, double tolerance, const Program& program, const Arguments&... arguments) {
  auto on = [&](plx::backend where) {
    const plx::use_backend here(where);
    return program(arguments...);
  };
  const auto expected = on(plx::backend::host);
  for (const char* call : {"first", "second", "third"}) {
    const auto found = on(plx::backend::cuda);
    int leaf = 0;
    plx::tree_map(
        [&](const auto& ours, const auto& theirs) {
          const auto x = detail::on_host(ours), y = detail::on_host(theirs);
          const std::string name = what + ", " + call + " call, result " + std::to_string(leaf++);
          require(x.shape() == y.shape(), name + ": the shape is another");
          for (std::int64_t i = 0; i < x.size(); ++i)
            detail::require_same(x.data()[i], y.data()[i], tolerance, name, static_cast<std::size_t>(i));
          return 0;
        },
        found, expected);
  }
}

/// How many devices programs are spread over here: 4 where there are so many.
inline std::int64_t spread() {
  const plx::use_backend here(plx::backend::cuda);
  return plx::device_count() >= 4 ? 4 : plx::device_count() >= 2 ? 2 : 1;
}

} // namespace gpu
