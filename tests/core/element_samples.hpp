// Values of each element type at which operations are likely to go wrong, and some ordinary ones.
#pragma once

#include <parallax/core/types/element_type.hpp>

#include <cmath>
#include <concepts>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

template <parallax::element T> std::vector<T> element_samples(int random_count) {
  using limits = std::numeric_limits<T>;
  std::vector<T> samples;
  std::mt19937_64 engine(17);
  if constexpr (std::same_as<T, bool>) {
    samples = {false, true};
    for (int i = 0; i < random_count; ++i) samples.push_back(engine() % 2 == 0);
  } else if constexpr (std::integral<T>) {
    for (int i = 0; i <= 9; ++i) samples.push_back(static_cast<T>(i));
    for (int i = 0; i <= 9; ++i) samples.push_back(static_cast<T>(-i));
    for (T edge : {limits::min(), limits::max()})
      for (T step : {T{0}, T{1}, T{2}})
        samples.push_back(static_cast<T>(edge == limits::min() ? edge + step : edge - step));
    for (int bit = 3; bit < limits::digits; ++bit) samples.push_back(static_cast<T>(T{1} << bit));
    for (int i = 0; i < random_count; ++i) samples.push_back(static_cast<T>(engine() >> (engine() % 64)));
  } else {
    for (T size : {T{0},
                   limits::denorm_min(),
                   T(limits::min() / 3),
                   limits::min(),
                   limits::epsilon(),
                   T(0.25),
                   T(0.5),
                   T(0.75),
                   T{1},
                   T(1.5),
                   T{2},
                   T(2.5),
                   T{3},
                   T(255.5),
                   T{256},
                   T(1e6),
                   T(8388607.5),
                   T(2147483520),
                   T(2147483648),
                   T(4294967296),
                   T(4503599627370495.5),
                   T(9223372036854775808.0),
                   T(18446744073709551616.0),
                   T(1e30),
                   limits::max(),
                   limits::infinity(),
                   limits::quiet_NaN()}) {
      samples.push_back(size);
      samples.push_back(-size);
    }
    std::uniform_real_distribution<std::conditional_t<sizeof(T) == 2, float, T>> exponent(-20, 20);
    for (int i = 0; i < random_count; ++i)
      samples.push_back(static_cast<T>((engine() % 2 ? 1 : -1) * std::exp2(exponent(engine))));
  }
  return samples;
}
