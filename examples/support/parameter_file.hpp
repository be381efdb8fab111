// Saves trained parameters as text, so that two runs can be compared number by number.
#pragma once

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace examples {

/// Writes arrays to a file: for each a line `# name extent extent...` and then one number per line, with all digits a
/// float has.
class parameter_file {
 public:
  /// Opens `path` at once, so that a bad path is known before the training and not after it.
  explicit parameter_file(const std::string& path) : path_(path) {
    errno = 0;
    file_.open(path);
    if (!file_) fail("cannot be created");
    file_ << std::setprecision(std::numeric_limits<float>::max_digits10);
  }

  void write(std::string_view name, std::span<const std::int64_t> shape, std::span<const float> values) {
    file_ << "# " << name;
    for (auto extent : shape) file_ << ' ' << extent;
    file_ << '\n';
    for (float value : values) file_ << value << '\n';
  }

  /// Makes sure that everything was written. Throws `std::runtime_error` where it was not.
  void finish() {
    errno = 0;
    file_.close();
    if (!file_) fail("cannot be written");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error(path_ + ": " + what + (errno != 0 ? ": " + std::generic_category().message(errno) : ""));
  }

  std::string path_;
  std::ofstream file_;
};

} // namespace examples
