// The error function of doubles on packs, inlined, with errors below 2 units in the last place.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/functions/erf_table.hpp>
#include <parallax/host/simd/functions/pack_polynomial.hpp>
#include <parallax/host/simd/lanes/pack_arithmetic.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

using double_pack = pack<double>;

/// The rows of the table at the numbers in the low bits of each lane.
struct erf_rows_of_lanes {
  double_pack::part_type values, slopes;
};
PARALLAX_INLINE erf_rows_of_lanes looked_up(const tables::erf_row* rows, double_pack::bits_type numbers) {
  erf_rows_of_lanes result{};
  PARALLAX_UNROLL(8)
  for (int i = 0; i < double_pack::part_lanes; ++i) {
    const tables::erf_row& row = rows[numbers[i]];
    result.values[i] = row.value, result.slopes[i] = row.slope;
  }
  return result;
}

/// (integral of exp(-2 r t - t^2) for t from 0 to d) / d - 1 is z linear(z) + d^2 square(z) + d^4 fourth(z) ... of z =
/// r d: the product of the series of both exponentials, integrated.
struct erf_bend {
  static constexpr double linear[] = {-1, 2. / 3, -1. / 3, 2. / 15, -2. / 45, 4. / 315};
  static constexpr double square[] = {-1. / 3, 1. / 2, -2. / 5, 2. / 9, -2. / 21};
  static constexpr double fourth[] = {1. / 10, -1. / 6, 1. / 7};
};

// erf(r + d) = erf(r) + erf'(r) * (that integral), with r the next multiple of 1/64. Near 0 it is x and a series.
PARALLAX_INLINE double_pack::part_type erf_part(double_pack::part_type x) {
  using part_type = double_pack::part_type;
  using bits = double_pack::bits_type;
  const auto number = [](double value) { return repeat<double_pack>(value); };
  const bits sign = bits(number(-0.0));
  const part_type size = part_type(bits(x) & ~sign), square = size * size;
  const part_type near_zero = size * series_of<double_pack>(square, tables::erf_series) + size;

  // Added to a number of this size, a small one is rounded to a multiple of 1/64, whose number then is in the low bits.
  const part_type large = number(1.5 / std::numeric_limits<double>::epsilon() / tables::erf_steps);
  const part_type inside = smaller_of(size, number(tables::erf_last)); // the last one where x is NaN
  const part_type shifted = inside + large, r = shifted - large, d = inside - r, z = r * d, dd = d * d;
  const auto [values, slopes] = looked_up(tables::erf_rows, bits(shifted) - bits(large));
  const part_type bent = z * series_of<double_pack>(z, erf_bend::linear) +
                         dd * (series_of<double_pack>(z, erf_bend::square) +
                               dd * (series_of<double_pack>(z, erf_bend::fourth) + dd * number(-1. / 42)));
  const part_type far = slopes * (d * bent + d) + values;

  return part_type(bits(choose(size >= number(0.125), far, near_zero)) | (bits(x) & sign)); // NaN stays
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

PARALLAX_INLINE pack<double> erf(const pack<double>& x) {
  return detail::by_parts<pack<double>>([](auto part) { return detail::erf_part(part); }, x);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
