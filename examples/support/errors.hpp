// The two kinds of error that an example reports in one line, and how it quotes foreign text there.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace examples {

/// A data file that is missing or damaged. The message names the file, the place in it and what is wrong.
struct data_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A command line that makes no sense. The message names the option and what it expects.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `text` in quotes, with control and non-ASCII bytes as '?' and no more than `limit` characters of it.
inline std::string printable(std::string_view text, std::size_t limit = 24) {
  std::string shown = "'";
  for (char c : text.substr(0, limit)) shown += c >= ' ' && c <= '~' ? c : '?';
  if (text.size() > limit) shown += "...";
  return shown + "'";
}

/// `text` on one line, its control characters as escapes: what a path holds does not reach the terminal as it is.
inline std::string one_line(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool in_two_bytes = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte >= ' ' && byte != 0x7f && !in_two_bytes) {
      shown += text[i];
    } else if (byte == '\n') {
      shown += "\\n";
    } else {
      shown += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return shown;
}

} // namespace examples
