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

/// The folder part of a path, with the slash behind it; empty for the current folder.
inline std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// The path that symbolic links lead to, whether or not a file exists there. After 40 links, when the system gives up,
/// it is the path of a link.
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

/// Sixteen random hexadecimal digits: two containers may have one process number on a shared disk.
inline std::string random_name() {
  static constexpr char digits[] = "0123456789abcdef";
  std::random_device chance;
  std::string name;
  for (int words = 0; words < 2; ++words)
    for (std::uint32_t word = chance(), digit = 0; digit < 8; ++digit, word >>= 4) name += digits[word & 15];
  return name;
}

} // namespace detail

/// A file that is written beside `path` under a name of its own and then renamed to `path`. A reader of `path` finds
/// either the old content or all of the new one; of several writers the last to finish leaves its file whole. If `path`
/// is a symbolic link, the file that it leads to is replaced, and keeps its permissions. Throws `error` if the system
/// refuses an operation, and for anything but a regular file, such as a device or a folder.
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

  /// Gives the file its name once its content is on the disk.
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

  /// Creates a file that did not exist. The system removes the process' mask from its permissions.
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
  /// Gives the file the owner and permissions of the one that it replaces. If this process may not set the owner, its
  /// own user becomes the owner, and others keep only the permissions that the file gave to everyone.
  void keep_permissions(const struct stat& there) const {
    const int opened = ::fileno(file.get());
    const bool is_kept = ::fchown(opened, there.st_uid, there.st_gid) == 0;
    const mode_t group = is_kept ? 0070 : (there.st_mode & 0007) << 3;
    if (::fchmod(opened, there.st_mode & (0707 | group)) != 0) refuse("cannot be given its permissions");
  }
  /// Writes the folder to the disk, and thereby the name.
  void write_folder() const {
    const std::string folder = detail::folder_of(target);
    const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return; // a folder that may be written to and not read
    const bool is_written = ::fsync(opened) == 0 || errno == EINVAL || errno == ENOTSUP; // some disks cannot do it
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
