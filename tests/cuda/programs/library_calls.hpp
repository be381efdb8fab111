// The libraries' calls: those that a page's table names, and those that functions of `runtime_api` make, which are read
// in its source.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace library_calls {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.empty()) throw std::runtime_error("cannot read " + path.string());
  return text;
}

/// A table's row: what stands in a program, and what becomes of it.
struct row {
  std::string program, calls;
};

inline std::string trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

/// The rows of the first table below a heading, without their heads.
inline std::vector<row> table_below(const std::string& document, const std::string& heading) {
  std::vector<row> rows;
  std::size_t at = document.find("\n|", document.find("\n" + heading + "\n"));
  for (int line = 0; at != std::string::npos && document[at + 1] == '|'; ++line) {
    const std::size_t end = document.find('\n', at + 1), middle = document.find('|', at + 2);
    const std::size_t last = document.rfind('|', end);
    if (line >= 2)
      rows.push_back({trimmed(std::string_view(document).substr(at + 2, middle - at - 2)),
                      trimmed(std::string_view(document).substr(middle + 1, last - middle - 1))});
    at = end;
  }
  return rows;
}

/// The names in a text that look like calls of the libraries, such as `ncclAllReduce`; those alone that `behind`
/// follows.
inline std::set<std::string> library_calls_in(std::string_view text, std::string_view behind) {
  std::set<std::string> names;
  auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_part(text[end])) ++end;
    const std::string_view name = text.substr(i, end - i);
    for (std::string_view library : {"cuda", "cublasLt", "curand", "nccl"})
      if (name.starts_with(library) && name.size() > library.size() &&
          std::isupper(static_cast<unsigned char>(name[library.size()])) != 0 && text.substr(end).starts_with(behind))
        names.emplace(name);
    i = std::max(end, i + 1);
  }
  return names;
}

/// The libraries' calls that a function of `runtime_api` makes.
inline std::set<std::string> library_calls_of(std::string_view function) {
  static const std::string sources = [] {
    std::string all;
    for (const auto& file : std::filesystem::directory_iterator(PARALLAX_SOURCE_DIR "/include/parallax/cuda/nvidia"))
      if (file.path().extension() == ".cuh") all += text_of(file.path());
    return all;
  }();
  std::set<std::string> names;
  const std::string head = "static status " + std::string(function) + "(";
  for (std::size_t at = sources.find(head); at != std::string::npos; at = sources.find(head, at + 1)) {
    std::size_t end = sources.find('{', at) + 1;
    for (int open = 1; open > 0; ++end) open += sources.at(end) == '{' ? 1 : sources.at(end) == '}' ? -1 : 0;
    names.merge(library_calls_in(std::string_view(sources).substr(at, end - at), "("));
  }
  return names;
}

/// Whether a call is the work of a program: not memory, not order, not what comes before and behind a group.
inline bool is_work(std::string_view library_call) {
  for (std::string_view other : {"cuda", "ncclComm", "ncclGroup", "ncclGet", "cublasLtCreate"})
    if (library_call.starts_with(other)) return false;
  return true;
}

} // namespace library_calls
