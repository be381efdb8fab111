// What a file computes that is compiled for some vector registers. `registers.cpp` is compiled several times, for other
// registers each time, and all of it is linked.
#pragma once

#include <cstdint>
#include <vector>

namespace units {

/// Those of 16 bytes, those of 32 bytes, and those of this machine.
enum class registers { narrow, wide, native };

struct computed {
  int lanes = 0; ///< of the registers that the file was compiled for
  // programs of the same type in every file, of which the linker keeps one
  std::vector<float> eager_sum, softmax;
  std::vector<double> mean;
  std::vector<std::uint8_t> comparison;
  std::vector<float> product_of_16_bits, columns;
  // kernels of the file's own: of the narrow one, the maximum with 1, of the wide one, the sum, of the native one, the
  // difference
  std::vector<std::uint32_t> every_ninth_word;
  std::vector<std::uint64_t> every_ninth_of_64_bits;
  std::vector<float> own_softmax, own_columns;
};

/// What the file for these registers computes.
template <registers> computed compute();
template <> computed compute<registers::narrow>();
template <> computed compute<registers::wide>();
template <> computed compute<registers::native>();

/// Extents of what is computed: some lanes of the last register are left over, whatever registers there are.
inline constexpr int length = 203, rows = 5;

} // namespace units
