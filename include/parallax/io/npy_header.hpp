// The head of an .npy file of NumPy: a dictionary as Python writes it.
#pragma once

#include <parallax/core/version.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::io {

/// The content of the head of an .npy file.
struct npy_header {
  std::string descr; ///< the type of the elements, such as "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t size = 0; ///< bytes of the head; the elements begin behind it
};

namespace detail {

/// Reads {'descr': text, 'fortran_order': truth value, 'shape': tuple of numbers}: exactly these keys, in any order. If
/// a key is repeated, its last value counts. Texts have no escapes, and numbers are decimal and not negative.
class npy_dictionary_reader {
 public:
  explicit npy_dictionary_reader(std::string_view text) : rest(text) {}

  std::optional<npy_header> read() {
    npy_header read;
    bool has_descr = false, has_order = false, has_shape = false;
    const bool is_read = take_list('{', '}', [&] {
      std::string key;
      if (!take_text(key) || !take(':')) return false;
      if (key == "descr") return has_descr = take_text(read.descr);
      if (key == "fortran_order") return has_order = take_truth(read.fortran_order);
      return key == "shape" && (has_shape = take_shape(read.shape));
    });
    skip_spaces();
    if (!is_read || !rest.empty() || !has_descr || !has_order || !has_shape) return {};
    return read;
  }

 private:
  std::string_view rest;
  bool ended_in_comma = false; ///< whether the last list ended in a comma

  void skip_spaces() { rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size())); }
  bool take(char c) {
    skip_spaces();
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  /// A list of items that `one` reads, with commas between them. A comma may also stand at the end.
  template <class One> bool take_list(char open, char close, const One& one) {
    if (!take(open)) return false;
    for (bool comma = true, any = false;; any = true) {
      if (take(close)) {
        ended_in_comma = any && comma;
        return true;
      }
      if (!comma || !one()) return false;
      comma = take(',');
    }
  }
  bool take_text(std::string& text) {
    skip_spaces();
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"')) return false;
    const std::size_t end = rest.find(rest.front(), 1);
    if (end == std::string_view::npos) return false;
    text = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return text.find_first_of("\\\r\n") == std::string::npos;
  }
  bool take_truth(bool& value) {
    skip_spaces();
    for (const bool each : {false, true}) {
      const std::string_view name = each ? "True" : "False";
      if (!rest.starts_with(name)) continue;
      rest.remove_prefix(name.size());
      value = each;
      return true;
    }
    return false;
  }
  bool take_number(std::int64_t& number) {
    skip_spaces();
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0 || (digits > 1 && rest.front() == '0')) return false; // Python refuses 07 as well
    number = 0;
    for (const char c : rest.substr(0, digits)) {
      if (number > (std::numeric_limits<std::int64_t>::max() - 9) / 10) return false;
      number = 10 * number + (c - '0');
    }
    rest.remove_prefix(digits);
    return true;
  }
  /// (2) is a number in Python, and (2,) a tuple.
  bool take_shape(std::vector<std::int64_t>& shape) {
    shape.clear();
    const bool is_list = take_list('(', ')', [&] {
      shape.push_back(0);
      return take_number(shape.back());
    });
    return is_list && (shape.size() != 1 || ended_in_comma);
  }
};

} // namespace detail

/// The head of an .npy file of version 1.0; `none` if NumPy would refuse it, if it holds records instead of numbers, or
/// if it is of a form that no program writes. NumPy: lib.format.read_array_header_1_0
inline std::optional<npy_header> read_npy_header(std::string_view file) {
  if (file.size() < 10 || file.substr(0, 8) != std::string_view("\x93NUMPY\x01\x00", 8)) return {};
  const std::size_t size = static_cast<unsigned char>(file[8]) + 256 * std::size_t{static_cast<unsigned char>(file[9])};
  if (file.size() < 10 + size) return {};
  std::optional<npy_header> read = detail::npy_dictionary_reader(file.substr(10, size)).read();
  if (read) read->size = 10 + size;
  return read;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::io
