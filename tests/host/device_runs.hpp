// What the parts of a run on virtual devices are given, and a collective that they meet in.
#pragma once

#include <parallax/host/devices/collectives.hpp>

#include <cstddef>
#include <numeric>
#include <vector>

namespace device_runs {

inline std::vector<int> first_devices(int count) {
  std::vector<int> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

inline float sum_over(parallax::host::team& line, int position, float value) {
  parallax::host::all_reduce({line, position, 1}, parallax::host::reduction::sum, parallax::element_type::float32,
                             &value, &value, 1);
  return value;
}

} // namespace device_runs
