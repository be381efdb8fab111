// Files that are written beside the one that they replace.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace parallax::PARALLAX_INLINE_VERSION::io {

namespace detail {

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, file_closer>;

/// The folder that a path names a file of, with the slash behind it; empty for the current one.
inline std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// The path that the symbolic links lead to, whether or not there is a file. At 40 links, where the system gives up, it
/// is that of a link.
inline std::string behind_links(std::string path) {
  for (int links = 0; links < 40; ++links) {
    std::string to(4096, '\0');
    const ssize_t size = ::readlink(path.c_str(), to.data(), to.size());
    if (size <= 0 || static_cast<std::size_t>(size) == to.size()) return path; // no link
    to.resize(static_cast<std::size_t>(size));
    if (to.front() != '/') to.insert(0, folder_of(path));
    path = std::move(to);
  }
  return path;
}

/// Sixteen hexadecimal digits, by chance: two containers may have one process number on a disk that they share.
inline std::string random_name() {
  static constexpr char digits[] = "0123456789abcdef";
  std::random_device chance;
  std::string name;
  for (int words = 0; words < 2; ++words)
    for (std::uint32_t word = chance(), digit = 0; digit < 8; ++digit, word >>= 4) name += digits[word & 15];
  return name;
}

} // namespace detail

/// A file that is written beside `path` under a name of its own and then given that name. Whoever reads `path` finds
/// what was there before or all of the new one; of several writers the last one to finish leaves its file whole. Where
/// `path` is a symbolic link, the file that it leads to is replaced, which keeps its permissions. Throws `error` for
/// what the system refuses and for what is no regular file, such as a device or a folder.
class replaced_file {
 public:
  explicit replaced_file(const std::string& path) : name(path), target(detail::behind_links(path)) {
    struct stat there{};
    const bool exists = ::stat(target.c_str(), &there) == 0;
    if (!exists && errno != ENOENT) refuse("cannot be written");
    if (exists && !S_ISREG(there.st_mode))
      throw error("save: " + name + " is no regular file: only such a one can be replaced");
    if (exists && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) refuse("cannot be written");
    const int opened = create(exists ? 0600 : 0666);
    file.reset(::fdopen(opened, "wb"));
    if (!file) {
      const int why = errno;
      ::close(opened);
      std::remove(temporary.c_str());
      errno = why;
      refuse("cannot be written");
    }
    if (exists) keep_permissions(there);
  }
  ~replaced_file() {
    if (temporary.empty()) return;
    file.reset();
    std::remove(temporary.c_str());
  }
  replaced_file(const replaced_file&) = delete;
  replaced_file& operator=(const replaced_file&) = delete;

  void write(const void* data, std::size_t bytes) {
    if (bytes > 0 && std::fwrite(data, 1, bytes, file.get()) != bytes) refuse("cannot be written");
  }

  /// Gives the file its name, once what was written is on the disk.
  void finish() {
    if (std::fflush(file.get()) != 0 || ::fsync(::fileno(file.get())) != 0) refuse("cannot be written to the end");
    if (std::fclose(file.release()) != 0) refuse("cannot be written to the end");
    if (std::rename(temporary.c_str(), target.c_str()) != 0) refuse("cannot be given its name");
    temporary.clear();
    write_folder();
  }

 private:
  std::string name, target, temporary;
  detail::open_file file;

  /// A file that was not there before; the system takes the process' mask from its permissions.
  int create(mode_t permissions) {
    while (true) {
      temporary = target + ".part" + detail::random_name();
      const int opened = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, permissions);
      if (opened >= 0) return opened;
      const int why = errno;
      temporary.clear();
      errno = why;
      if (why != EEXIST && why != EINTR) refuse("cannot be written");
    }
  }
  /// As if the file that is replaced had been written to. Its owner stays where this process may say so; else it is
  /// this process' user, and then only what the file allowed to all stays allowed to others than the owner.
  void keep_permissions(const struct stat& there) const {
    const int opened = ::fileno(file.get());
    const bool is_kept = ::fchown(opened, there.st_uid, there.st_gid) == 0;
    const mode_t group = is_kept ? 0070 : (there.st_mode & 0007) << 3;
    if (::fchmod(opened, there.st_mode & (0707 | group)) != 0) refuse("cannot be given its permissions");
  }
  /// The name is on the disk once the folder is.
  void write_folder() const {
    const std::string folder = detail::folder_of(target);
    const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return; // a folder that may be written to and not read
    const bool is_written = ::fsync(opened) == 0 || errno == EINVAL || errno == ENOTSUP; // what no such disk can do
    const int why = errno;
    ::close(opened);
    errno = why;
    if (!is_written) refuse("was written, but its folder is not on the disk");
  }
  [[noreturn]] void refuse(const char* what) const {
    throw error("save: " + name + " " + what + ": " + std::strerror(errno));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::io
