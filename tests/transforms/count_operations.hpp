// Counts operations in the text of a program.
#pragma once

#include <string_view>

/// How often ` = operation` appears followed by neither letter nor underscore.
constexpr int count_operations(std::string_view program, std::string_view operation) {
  int count = 0;
  for (std::size_t at = program.find(" = "); at != program.npos; at = program.find(" = ", at + 1)) {
    std::string_view rest = program.substr(at + 3);
    if (rest.starts_with(operation) && (rest[operation.size()] == ' ' || rest[operation.size()] == '[')) ++count;
  }
  return count;
}

/// The number of operations of all kinds.
constexpr int count_operations(std::string_view program) {
  int count = 0;
  for (std::size_t at = program.find(" = "); at != program.npos; at = program.find(" = ", at + 1)) ++count;
  return count;
}
