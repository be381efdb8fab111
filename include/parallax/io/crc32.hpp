// The checksum of zip archives.
#pragma once

#include <parallax/core/version.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::io {

namespace detail {

/// By table k: the checksum's part from a byte that k more bytes follow.
using crc32_tables = std::array<std::array<std::uint32_t, 256>, 16>;

constexpr crc32_tables make_crc32_tables() {
  crc32_tables made{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0U);
    made[0][i] = value;
  }
  for (std::size_t k = 1; k < made.size(); ++k)
    for (std::size_t i = 0; i < 256; ++i) made[k][i] = (made[k - 1][i] >> 8) ^ made[0][made[k - 1][i] & 0xff];
  return made;
}

inline constexpr crc32_tables crc32_of_bytes = make_crc32_tables();

/// Four bytes as a number, the first one lowest.
inline std::uint32_t little_endian_word(const std::byte* data) {
  return static_cast<std::uint32_t>(data[0]) | static_cast<std::uint32_t>(data[1]) << 8 |
         static_cast<std::uint32_t>(data[2]) << 16 | static_cast<std::uint32_t>(data[3]) << 24;
}
/// The checksum's part from a word that `behind` more bytes follow.
template <std::size_t Behind> std::uint32_t crc32_of_word(std::uint32_t word) {
  return crc32_of_bytes[Behind + 3][word & 0xff] ^ crc32_of_bytes[Behind + 2][(word >> 8) & 0xff] ^
         crc32_of_bytes[Behind + 1][(word >> 16) & 0xff] ^ crc32_of_bytes[Behind][word >> 24];
}

} // namespace detail

/// Continues the checksum of zip (CRC-32 of ISO 3309): `sum` is that of earlier bytes. Sixteen independent look-ups are
/// made at a time. Python: zlib.crc32(data, sum)
inline std::uint32_t crc32(std::uint32_t sum, const std::byte* data, std::size_t bytes) {
  sum = ~sum;
  for (; bytes >= 16; bytes -= 16, data += 16)
    sum = detail::crc32_of_word<12>(sum ^ detail::little_endian_word(data)) ^
          detail::crc32_of_word<8>(detail::little_endian_word(data + 4)) ^
          detail::crc32_of_word<4>(detail::little_endian_word(data + 8)) ^
          detail::crc32_of_word<0>(detail::little_endian_word(data + 12));
  for (; bytes > 0; --bytes, ++data)
    sum = detail::crc32_of_bytes[0][(sum ^ static_cast<std::uint32_t>(*data)) & 0xff] ^ (sum >> 8);
  return ~sum;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::io
