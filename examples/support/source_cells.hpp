// Quotes the parts of a source file, so that a program can show the code of what it prints.
#pragma once

#include "errors.hpp"

#include <cerrno>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

namespace examples {

/// The parts of a file that begin with a line `// [number] title`, each up to the next one or the end of its namespace.
class source_cells {
 public:
  /// Throws `data_error` where `path` cannot be read.
  explicit source_cells(const std::string& path) : path_(path) {
    errno = 0;
    std::ifstream file(path);
    if (!file) throw data_error(path + ": cannot be opened: " + std::generic_category().message(errno));
    std::string* cell = nullptr;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("// [")) cell = &cells_[number_in(line)];
      if (line.starts_with("}") && line.find("namespace") != std::string::npos) cell = nullptr;
      if (cell) *cell += line + '\n';
    }
    for (auto& [number, text] : cells_) text.erase(text.find_last_not_of('\n') + 1);
  }

  /// The text of a cell, without the lines' end behind it. Throws `data_error` where there is none.
  std::string_view operator[](int number) const {
    auto found = cells_.find(number);
    if (found == cells_.end()) throw data_error(path_ + ": has no cell [" + std::to_string(number) + "]");
    return found->second;
  }

 private:
  int number_in(std::string_view line) const {
    int number = 0;
    std::size_t at = 4;
    for (; at < line.size() && line[at] >= '0' && line[at] <= '9'; ++at) number = 10 * number + (line[at] - '0');
    if (at == 4 || at >= line.size() || line[at] != ']' || number > 9999)
      throw data_error(path_ + ": a cell begins with // [number], not " + printable(line));
    return number;
  }

  std::string path_;
  std::map<int, std::string> cells_;
};

} // namespace examples
