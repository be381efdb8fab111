// Reads an IDX file of unsigned bytes, plain or gzipped: the format of the MNIST digits.
#pragma once

#include "errors.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace examples {

/// The contents of an IDX file: extents, and that many bytes in row-major order.
template <std::size_t Rank> struct idx_array {
  std::array<std::size_t, Rank> extents{};
  std::vector<std::uint8_t> values;
};

namespace detail {

/// A file read through zlib, which passes a file that is not gzipped through as it is.
class gzip_reader {
 public:
  explicit gzip_reader(const std::string& path) : path_(path) {
    if (std::filesystem::is_directory(path)) throw data_error(path + ": is a directory, expected an IDX file");
    errno = 0;
    file_.reset(gzopen(path.c_str(), "rb"));
    if (!file_) throw data_error(path + ": cannot be opened: " + std::generic_category().message(errno));
  }

  /// Fills `bytes` as far as the file goes and returns how many it had.
  /// Throws `data_error` where the compressed data are cut off or damaged.
  std::size_t read(std::span<std::uint8_t> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      auto wanted = static_cast<unsigned>(std::min<std::size_t>(bytes.size() - done, 1u << 20));
      int got = gzread(file_.get(), bytes.data() + done, wanted);
      int status = Z_OK;
      const char* text = gzerror(file_.get(), &status);
      if (status == Z_BUF_ERROR) throw data_error(path_ + ": is truncated: the gzip stream has no end");
      if (status == Z_ERRNO) throw data_error(path_ + ": cannot be read: " + std::generic_category().message(errno));
      if (got < 0 || status < 0) throw data_error(path_ + ": is not valid gzip data: " + describe(text));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  struct closer {
    void operator()(gzFile file) const { gzclose(file); }
  };

  // zlib puts the path in front, which our message has already.
  std::string describe(std::string text) const {
    auto prefix = path_ + ": ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }

  std::string path_;
  std::unique_ptr<gzFile_s, closer> file_;
};

inline std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

} // namespace detail

/// The most bytes that are read of one file: a few kilobytes of gzip may promise all the memory there is.
inline constexpr std::size_t largest_idx_file = std::size_t{1} << 30;

/// Reads an IDX file with `Rank` extents and no more than `largest_idx_file` values. Throws `data_error` unless its
/// magic number, extents and length agree.
template <std::size_t Rank> idx_array<Rank> read_idx(const std::string& path) {
  detail::gzip_reader file(path);
  std::array<std::uint8_t, 4 * (Rank + 1)> header{};
  if (auto got = file.read(header); got < header.size())
    throw data_error(path + ": is truncated: its header has " + std::to_string(got) + " bytes of " +
                     std::to_string(header.size()));

  // Two zero bytes, the element type (8: unsigned byte) and the number of extents.
  constexpr std::uint32_t expected = 0x0800 + static_cast<std::uint32_t>(Rank);
  if (auto magic = detail::big_endian(std::span(header).template first<4>()); magic != expected) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "magic number is 0x%08x, expected 0x%08x", magic, expected);
    throw data_error(path + ": " + text.data());
  }

  idx_array<Rank> result;
  constexpr std::size_t largest_side = 4096; // of a picture; also keeps the product below from overflowing
  std::size_t promised = 1;
  std::string shape;
  for (std::size_t i = 0; i < Rank; ++i) {
    auto extent = result.extents[i] = detail::big_endian(std::span(header).subspan(4 * (i + 1)).template first<4>());
    if (extent == 0) throw data_error(path + ": extent " + std::to_string(i) + " is zero");
    if (i > 0 && extent > largest_side)
      throw data_error(path + ": extent " + std::to_string(i) + " is " + std::to_string(extent) +
                       ", more than a picture's side can be (" + std::to_string(largest_side) + ")");
    promised *= extent;
    shape += (i > 0 ? " x " : "") + std::to_string(extent);
  }

  if (promised > largest_idx_file)
    throw data_error(path + ": " + shape + " are " + std::to_string(promised) + " bytes, the most that are read is " +
                     std::to_string(largest_idx_file));

  // Grows with the file rather than with what its header promises, which may be much in a damaged one.
  constexpr std::size_t piece = 1 << 24;
  while (result.values.size() < promised) {
    auto before = result.values.size();
    result.values.resize(before + std::min(piece, promised - before));
    auto got = file.read(std::span(result.values).subspan(before));
    if (before + got < result.values.size())
      throw data_error(path + ": is truncated: " + shape + " are " + std::to_string(promised) + " bytes, but it has " +
                       std::to_string(before + got));
  }
  if (std::array<std::uint8_t, 1> extra{}; file.read(extra) != 0)
    throw data_error(path + ": has bytes after the " + std::to_string(promised) + " of " + shape);
  return result;
}

} // namespace examples
