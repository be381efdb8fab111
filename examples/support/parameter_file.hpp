// Saves trained parameters as text, so that two runs can be compared number by number.
#pragma once

#include "errors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace examples {

/// Throws `usage_error`, which names `option`, where `path` is one of the files that are read, under whatever name.
inline void refuse_to_replace(std::span<const std::string> read, std::string_view option, const std::string& path) {
  for (const std::string& other : read) {
    std::error_code missing;
    if (std::filesystem::equivalent(path, other, missing))
      throw usage_error(std::string(option) + " would replace " + other + ", which is read");
  }
}

/// Writes arrays to a file: for each a line `# name extent extent...` and then one number per line, with all digits a
/// float has. They are written beside the file, which they replace when all is there: what was in it before is lost
/// neither with a run that ends early nor on a full disk.
class parameter_file {
 public:
  /// Tries `path` at once, so that a bad path is known before the training and not after it. Throws
  /// `std::runtime_error`.
  explicit parameter_file(const std::string& path) : path_(path), target_(path) {
    std::error_code none;
    const auto status = std::filesystem::status(target_, none);
    is_replaced_ = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    if (is_replaced_) target_ = behind_links(path);
    if (is_replaced_ && std::filesystem::exists(status) && ::access(target_.c_str(), W_OK) != 0)
      fail("cannot be written", errno);
    open();
    if (is_replaced_) drop(); // the reader of a pipe would take it for the end
  }
  parameter_file(const parameter_file&) = delete;
  parameter_file& operator=(const parameter_file&) = delete;
  ~parameter_file() { drop(); }

  void write(std::string_view name, std::span<const std::int64_t> shape, std::span<const float> values) {
    if (!file_.is_open()) open();
    file_ << "# " << name;
    for (auto extent : shape) file_ << ' ' << extent;
    file_ << '\n';
    for (float value : values) file_ << value << '\n';
  }

  /// Makes sure that everything was written. Throws `std::runtime_error` where it was not.
  void finish() {
    errno = 0;
    file_.close();
    if (!file_) fail("cannot be written", errno);
    if (is_replaced_ && ::rename(aside_.c_str(), target_.c_str()) != 0) fail("cannot be written", errno);
    aside_.clear();
  }

 private:
  /// Where the links lead to, which need not exist.
  static std::string behind_links(std::filesystem::path path) {
    std::error_code none;
    for (int links = 0; links < 40 && std::filesystem::is_symlink(path, none); ++links)
      path = path.parent_path() / std::filesystem::read_symlink(path, none);
    return path.string();
  }

  void open() {
    errno = 0;
    if (is_replaced_) {
      std::string name = target_ + ".XXXXXX";
      const int descriptor = ::mkstemp(name.data());
      if (descriptor < 0) fail("cannot be created", errno);
      aside_ = name;
      const int mode_set = ::fchmod(descriptor, mode());
      ::close(descriptor);
      if (mode_set != 0) fail("cannot be created", errno);
    }
    file_.open(is_replaced_ ? aside_ : target_);
    if (!file_) fail("cannot be created", errno);
    file_ << std::setprecision(std::numeric_limits<float>::max_digits10);
  }

  void drop() noexcept {
    file_.close();
    if (!aside_.empty()) ::unlink(aside_.c_str());
    aside_.clear();
  }

  /// The permissions of the file that is replaced, or those of a new one.
  mode_t mode() const {
    struct stat existing{};
    if (::stat(target_.c_str(), &existing) == 0) return existing.st_mode & 0777;
    const mode_t hidden = ::umask(0);
    ::umask(hidden);
    return 0666 & ~hidden;
  }

  [[noreturn]] void fail(const char* what, int reason) const {
    throw std::runtime_error(path_ + ": " + what + (reason != 0 ? ": " + std::generic_category().message(reason) : ""));
  }

  std::string path_;
  std::string target_;      // the path behind links
  std::string aside_;       // where it is written; empty when there is nothing
  bool is_replaced_ = true; // not so a device or a pipe, which is written to
  std::ofstream file_;
};

} // namespace examples
