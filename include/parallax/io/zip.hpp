// Uncompressed zip archives of named pieces: the format of NumPy's .npz files.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>
#include <parallax/io/crc32.hpp>
#include <parallax/io/replaced_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::io {

namespace detail {

/// Numbers of zip are little endian.
class zip_record {
 public:
  std::vector<std::byte> bytes;

  template <int Bytes> zip_record& put(std::uint64_t value) {
    for (int i = 0; i < Bytes; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
    return *this;
  }
  zip_record& put(const std::string& text) {
    for (char c : text) bytes.push_back(static_cast<std::byte>(c));
    return *this;
  }
};

inline constexpr std::uint64_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50,
                               end64_signature = 0x06064b50, locator_signature = 0x07064b50, in_extra = 0xffffffff;

} // namespace detail

/// Writes an archive beside the file that it replaces, and renames it when it is complete, as `replaced_file` does.
/// Throws `error` if the system refuses an operation.
class zip_writer {
 public:
  explicit zip_writer(const std::string& path) : file(path) {}

  /// Adds a piece, `head` and then `bytes` bytes of data.
  void add(const std::string& piece, const std::string& head, const std::byte* data, std::size_t bytes) {
    entry made{piece, 0, head.size() + bytes, position};
    made.sum = crc32(crc32(0, reinterpret_cast<const std::byte*>(head.data()), head.size()), data, bytes);
    detail::zip_record record;
    record.put<4>(detail::local_signature);
    describe(record, made);
    record.put<2>(20).put(piece);
    record.put<2>(1).put<2>(16).put<8>(made.size).put<8>(made.size);
    write(record.bytes.data(), record.bytes.size());
    write(head.data(), head.size());
    write(data, bytes);
    entries.push_back(std::move(made));
  }

  /// Ends the archive, and gives it its name.
  void finish() {
    const std::uint64_t begin = position;
    for (const entry& each : entries) {
      detail::zip_record record;
      record.put<4>(detail::central_signature).put<2>(45);
      describe(record, each);
      record.put<2>(28).put<2>(0).put<2>(0).put<2>(0).put<4>(0).put<4>(detail::in_extra).put(each.name);
      record.put<2>(1).put<2>(24).put<8>(each.size).put<8>(each.size).put<8>(each.begin);
      write(record.bytes.data(), record.bytes.size());
    }
    const std::uint64_t size = position - begin, end = position, count = entries.size();
    detail::zip_record record;
    record.put<4>(detail::end64_signature).put<8>(44).put<2>(45).put<2>(45).put<4>(0).put<4>(0);
    record.put<8>(count).put<8>(count).put<8>(size).put<8>(begin);
    record.put<4>(detail::locator_signature).put<4>(0).put<8>(end).put<4>(1);
    record.put<4>(detail::end_signature).put<2>(0).put<2>(0).put<2>(0xffff).put<2>(0xffff);
    record.put<4>(detail::in_extra).put<4>(detail::in_extra).put<2>(0);
    write(record.bytes.data(), record.bytes.size());
    file.finish();
  }

 private:
  struct entry {
    std::string name;
    std::uint32_t sum;
    std::uint64_t size, begin;
  };

  replaced_file file;
  std::uint64_t position = 0;
  std::vector<entry> entries;

  /// The fields from the needed version to the length of the name: no compression, no date.
  static void describe(detail::zip_record& record, const entry& each) {
    record.put<2>(45).put<2>(0).put<2>(0).put<2>(0).put<2>(0x21).put<4>(each.sum);
    record.put<4>(detail::in_extra).put<4>(detail::in_extra).put<2>(each.name.size());
  }
  void write(const void* data, std::size_t bytes) {
    file.write(data, bytes);
    position += bytes;
  }
};

/// Reads an archive of pieces that are not compressed. Throws `error` for a file that is damaged or of another kind.
class zip_reader {
 public:
  explicit zip_reader(const std::string& path) : name(path), file(std::fopen(path.c_str(), "rb")) {
    if (!file) throw error("load: " + name + " cannot be read: " + std::strerror(errno));
    read_directory();
  }

  bool has(const std::string& piece) const { return find(piece) != nullptr; }
  /// The bytes of a piece.
  std::vector<std::byte> read(const std::string& piece) {
    const entry* const found = find(piece);
    if (found == nullptr) throw error("load: " + name + " has no " + piece);
    const std::vector<std::byte> head = read_at(found->begin, 30);
    if (number<4>(head, 0) != detail::local_signature) damaged();
    const std::vector<std::byte> named = read_at(found->begin + 30, number<2>(head, 26));
    if (std::string_view(reinterpret_cast<const char*>(named.data()), named.size()) != piece) damaged();
    std::vector<std::byte> bytes =
        read_at(found->begin + 30 + number<2>(head, 26) + number<2>(head, 28), static_cast<std::size_t>(found->size));
    if (crc32(0, bytes.data(), bytes.size()) != found->sum) damaged();
    return bytes;
  }

 private:
  struct entry {
    std::string name;
    std::uint32_t sum;
    std::uint64_t size, begin;
  };

  std::string name;
  detail::open_file file;
  std::uint64_t length = 0;
  std::vector<entry> entries;

  [[noreturn]] void damaged() const { throw error("load: " + name + " is damaged, or not what save has written"); }
  /// If several pieces have one name, the last one counts, as in Python's zipfile.
  const entry* find(const std::string& piece) const {
    const auto found =
        std::find_if(entries.rbegin(), entries.rend(), [&](const entry& each) { return each.name == piece; });
    return found == entries.rend() ? nullptr : &*found;
  }
  template <int Bytes> std::uint64_t number(const std::vector<std::byte>& bytes, std::size_t at) const {
    if (at + Bytes > bytes.size()) damaged();
    std::uint64_t value = 0;
    for (int i = 0; i < Bytes; ++i)
      value |= static_cast<std::uint64_t>(bytes[at + static_cast<std::size_t>(i)]) << (8 * i);
    return value;
  }
  std::vector<std::byte> read_at(std::uint64_t begin, std::uint64_t size) {
    if (begin > length || size > length - begin) damaged();
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    if (::fseeko(file.get(), static_cast<off_t>(begin), SEEK_SET) != 0) damaged();
    if (!bytes.empty() && std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) damaged();
    return bytes;
  }

  void read_directory() {
    if (::fseeko(file.get(), 0, SEEK_END) != 0) damaged();
    length = static_cast<std::uint64_t>(::ftello(file.get()));
    if (length < 22) damaged();
    // no comment follows: save writes none, and neither does NumPy
    const std::vector<std::byte> end = read_at(length - 22, 22);
    if (number<4>(end, 0) != detail::end_signature) damaged();
    std::uint64_t count = number<2>(end, 10), size = number<4>(end, 12), begin = number<4>(end, 16);
    if (begin == detail::in_extra || count == 0xffff) {
      if (length < 42) damaged();
      const std::vector<std::byte> locator = read_at(length - 42, 20);
      if (number<4>(locator, 0) != detail::locator_signature) damaged();
      const std::vector<std::byte> end64 = read_at(number<8>(locator, 8), 56);
      if (number<4>(end64, 0) != detail::end64_signature) damaged();
      count = number<8>(end64, 32), size = number<8>(end64, 40), begin = number<8>(end64, 48);
    }
    const std::vector<std::byte> directory = read_at(begin, size);
    std::size_t at = 0;
    for (; count > 0; --count) {
      if (number<4>(directory, at) != detail::central_signature || number<2>(directory, at + 10) != 0) damaged();
      entry made{"", static_cast<std::uint32_t>(number<4>(directory, at + 16)), number<4>(directory, at + 24),
                 number<4>(directory, at + 42)};
      const std::size_t name_size = number<2>(directory, at + 28), extra = number<2>(directory, at + 30);
      const std::size_t comment = number<2>(directory, at + 32);
      if (at + 46 + name_size + extra + comment > directory.size()) damaged();
      made.name.assign(reinterpret_cast<const char*>(directory.data() + at + 46), name_size);
      read_extra(directory, at + 46 + name_size, extra, made, number<4>(directory, at + 20) == detail::in_extra);
      at += 46 + name_size + extra + comment;
      entries.push_back(std::move(made));
    }
  }
  /// Sizes and places beyond 32 bits stand in an extra field, in this order, and only those that do not fit.
  void read_extra(const std::vector<std::byte>& directory, std::size_t at, std::size_t size, entry& made,
                  bool has_packed_size) const {
    const std::size_t end = at + size;
    while (at + 4 <= end) {
      const std::uint64_t kind = number<2>(directory, at), bytes = number<2>(directory, at + 2);
      std::size_t field = at + 4;
      if (kind == 1) {
        const auto next = [&] { return number<8>(directory, std::exchange(field, field + 8)); };
        if (made.size == detail::in_extra) made.size = next();
        if (has_packed_size) next();
        if (made.begin == detail::in_extra) made.begin = next();
      }
      at += 4 + static_cast<std::size_t>(bytes);
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::io
