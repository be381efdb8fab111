// A table of numbers that an example writes where its command line says: what its picture is drawn from.
#pragma once

#include "support/errors.hpp"

#include <cstddef>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace examples {

/// Writes rows of numbers as CSV to the file that the one argument names. Without an argument it writes nothing.
class table_file {
 public:
  /// Throws std::runtime_error for more than one argument, and `data_error` where the file cannot be written.
  explicit table_file(std::span<const char* const> arguments) {
    if (arguments.size() > 1)
      throw std::runtime_error("takes one argument at most, the file for a table of its results");
    if (arguments.empty()) return;
    path = arguments[0];
    file.open(path);
    if (!file) throw data_error(path + ": cannot be written");
  }

  [[nodiscard]] bool is_wanted() const { return !path.empty(); }

  /// A row of numbers, of spans of numbers, or of both.
  template <class... Cells> void row(const Cells&... cells) {
    if (!is_wanted()) return;
    std::size_t before = 0;
    auto write = [&](const auto& number) { file << (before++ == 0 ? "" : ",") << number; };
    auto write_all = [&]<class Cell>(const Cell& cell) {
      if constexpr (std::is_arithmetic_v<Cell>) write(cell);
      else
        for (const auto& number : cell) write(number);
    };
    (write_all(cells), ...);
    file << '\n';
  }

  /// Throws `data_error` unless all rows were written.
  void finish() {
    if (is_wanted() && !file.flush()) throw data_error(path + ": cannot be written");
  }

 private:
  std::string path;
  std::ofstream file;
};

} // namespace examples
