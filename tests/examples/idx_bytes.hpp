// Makes the bytes of IDX files, plain and gzipped, for tests.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>

/// Four bytes, the most significant first.
inline std::string big_endian_bytes(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// An IDX file of unsigned bytes with these extents and this content.
inline std::string idx_bytes(std::initializer_list<std::uint32_t> extents, const std::string& values) {
  auto bytes = big_endian_bytes(0x0800 + static_cast<std::uint32_t>(extents.size()));
  for (auto extent : extents) bytes += big_endian_bytes(extent);
  return bytes + values;
}

/// `bytes` as a gzip file holds them.
inline std::string gzipped(const std::string& bytes, const std::string& scratch_path) {
  gzFile file = gzopen(scratch_path.c_str(), "wb");
  if (file == nullptr) throw std::runtime_error("cannot create " + scratch_path);
  auto written = gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  if (gzclose(file) != Z_OK || written != static_cast<int>(bytes.size()))
    throw std::runtime_error("cannot write " + scratch_path);
  std::ifstream compressed(scratch_path, std::ios::binary);
  return {std::istreambuf_iterator<char>(compressed), {}};
}
