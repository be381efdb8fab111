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

} // namespace examples
