// Texts to learn from, and parts of them.
#pragma once

#include "characters.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

// Where the data of the examples lie; the build says where that is.
#ifndef PARALLAX_EXAMPLES_DATA
#define PARALLAX_EXAMPLES_DATA "examples/data"
#endif

namespace examples {

/// The text that comes with the examples.
inline constexpr const char* licence_path = PARALLAX_EXAMPLES_DATA "/../../LICENSE";

/// The numbers of a file's characters. Throws std::runtime_error where it cannot be read, or has no more than `length`.
inline std::vector<std::int32_t> read_text(const std::string& path, std::size_t length) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.size() <= length)
    throw std::runtime_error(path + " has less than " + std::to_string(length + 1) + " characters");
  std::vector<std::int32_t> numbers;
  for (const char c : text) numbers.push_back(number_of(c));
  return numbers;
}

/// Fills `windows` with parts of `length` characters of a longer text, from random places, and `next` with the
/// characters that follow each of these.
inline void draw_windows(const std::vector<std::int32_t>& text, std::size_t length, std::mt19937_64& engine,
                         std::vector<std::int32_t>& windows, std::vector<std::int32_t>& next) {
  std::uniform_int_distribution<std::size_t> anywhere(0, text.size() - length - 1);
  for (std::size_t row = 0; row < windows.size(); row += length) {
    const auto from = text.begin() + static_cast<std::ptrdiff_t>(anywhere(engine));
    std::copy_n(from, length, windows.begin() + static_cast<std::ptrdiff_t>(row));
    std::copy_n(from + 1, length, next.begin() + static_cast<std::ptrdiff_t>(row));
  }
}

} // namespace examples
