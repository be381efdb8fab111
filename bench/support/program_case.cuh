// Cases whose contender is one of our programs: what it gives is compared with the host backend's.
#pragma once

#include "gpu_limits.cuh"

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

/// What elements are called in the names of cases.
template <class T> inline constexpr const char* type_name = nullptr;
template <> inline constexpr const char* type_name<float> = "float32";
template <> inline constexpr const char* type_name<plx::bfloat16> = "bfloat16";

/// An array with a copy of the elements on the host, from where the host backend takes them.
template <class T, auto Shape> plx::array<T, Shape> on_host(const plx::array<T, Shape>& x) {
  return {x.shape(), x.values()};
}

/// Throws unless a program gives on the device what it gives on the host.
template <class Program, class... Arguments>
void check_against_host(const Program& program, double tolerance, const Arguments&... arguments) {
  const auto compare = [&](const auto& ours, const auto& theirs) {
    const auto here = on_device(ours), there = on_device(on_host(theirs));
    require_close(data_of(here), data_of(there), there.size(), tolerance, "the host backend");
  };
  const auto found = program(arguments...);
  const auto expected = [&] {
    const plx::use_backend host(plx::backend::host);
    return program(plx::tree_map([](const auto& x) { return on_host(x); }, arguments)...);
  }();
  plx::tree_map(
      [&](const auto& ours, const auto& theirs) {
        compare(ours, theirs);
        return 0;
      },
      found, expected);
}

/// A program by itself.
template <class Program, class... Arguments>
prepared_case one_program(const Program& program, double tolerance, const Arguments&... arguments) {
  prepared_case prepared;
  prepared.contenders = {{"parallax", kept_result([=] { return program(arguments...); })}};
  prepared.check = [=] { check_against_host(program, tolerance, arguments...); };
  return prepared;
}

/// So many bytes, read and written, against the device's own copy.
inline gpu_case copied(const std::string& name, double bytes, double aim, std::function<prepared_case()> prepare) {
  return {name,
          gpu_case::measure::traffic,
          bytes,
          [=] { return bytes / copy_bandwidth(); },
          "copy bandwidth",
          std::move(prepare),
          {{"copy bandwidth", aim}}};
}

/// So many bytes that are only read.
inline gpu_case read(const std::string& name, double bytes, double aim, std::function<prepared_case()> prepare) {
  return {name,
          gpu_case::measure::traffic,
          bytes,
          [=] { return bytes / read_bandwidth(); },
          "read bandwidth",
          std::move(prepare),
          {{"read bandwidth", aim}}};
}

} // namespace bench
