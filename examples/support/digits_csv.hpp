// Reads the UCI handwritten digits: one picture per line, 64 pixels from 0 to 16 and then the label.
#pragma once

#include "dataset.hpp"
#include "errors.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace examples {

namespace detail {

inline constexpr std::size_t csv_side = 8;
inline constexpr std::size_t csv_pixels = csv_side * csv_side;
inline constexpr int csv_ink = 16; // the value of a black pixel

/// Appends the picture and the label on one line to `data`. `place` (file and line) begins the message of an error.
inline void append_csv_row(dataset& data, std::string_view line, const std::string& place) {
  std::size_t fields = 0;
  for (bool more = true; more; ++fields) {
    auto comma = line.find(',');
    more = comma != std::string_view::npos;
    auto field = line.substr(0, comma);
    line.remove_prefix(more ? comma + 1 : line.size());
    if (fields > csv_pixels) continue; // counted for the message below

    bool is_label = fields == csv_pixels;
    int largest = is_label ? static_cast<int>(classes) - 1 : csv_ink;
    int value = 0;
    auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size() || value < 0 || value > largest)
      throw data_error(place + ": field " + std::to_string(fields + 1) + " is " + printable(field) + ", expected " +
                       (is_label ? "a label" : "a pixel") + " from 0 to " + std::to_string(largest));
    if (is_label) data.labels.push_back(value);
    else data.pixels.push_back(static_cast<float>(value) / csv_ink);
  }
  if (fields != csv_pixels + 1)
    throw data_error(place + ": " + std::to_string(fields) + (fields == 1 ? " field" : " fields") +
                     ", expected 65 (64 pixels and a label)");
}

} // namespace detail

/// Reads 8x8 digits from a comma-separated file. Throws `data_error` with the file, the line and the fault.
inline dataset read_digits_csv(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw data_error(path + ": is a directory, expected a CSV file");
  errno = 0;
  std::ifstream file(path);
  if (!file) throw data_error(path + ": cannot be opened: " + std::generic_category().message(errno));

  dataset data{detail::csv_side, detail::csv_side, {}, {}};
  std::array<char, 1 << 16> row{}; // a line may be all of a file that holds anything else
  for (std::size_t number = 1; file.getline(row.data(), row.size()) || file.gcount() > 0; ++number) {
    const std::string place = path + ":" + std::to_string(number);
    if (file.fail()) throw data_error(place + ": is longer than a row can be");
    std::string_view line(row.data(), static_cast<std::size_t>(file.gcount()) - (file.eof() ? 0 : 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    detail::append_csv_row(data, line, place);
  }
  if (file.bad()) throw data_error(path + ": cannot be read: " + std::generic_category().message(errno));
  if (data.size() == 0) throw data_error(path + ": holds no rows");
  return data;
}

} // namespace examples
