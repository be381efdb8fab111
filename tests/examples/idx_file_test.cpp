// Tests of examples/support/idx_file.hpp.
#include "support/idx_file.hpp"

#include "idx_bytes.hpp"
#include "support/test.hpp"
#include "temporary_directory.hpp"
#include "thrown_message.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace idx_file_test {

using namespace examples;

namespace {

/// Bytes that compress badly, so that a cut gzip file loses some.
std::string noise(std::size_t size) {
  std::string bytes;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525 + 1013904223;
    bytes += static_cast<char>(state >> 24);
  }
  return bytes;
}

/// The fault found in an IDX file of these bytes read with rank 3, without the file's path.
std::string fault(const std::string& bytes) {
  temporary_directory directory;
  auto path = directory.write("images", bytes);
  auto message = thrown_message<data_error>([&] { read_idx<3>(path); });
  INFO(message);
  REQUIRE(message.starts_with(path));
  return message.substr(path.size());
}

} // namespace

TEST_CASE("an IDX file is read plain and gzipped") {
  temporary_directory directory;
  auto bytes = idx_bytes({2, 3, 1}, std::string("\x00\x01\x7f\x80\xfe\xff", 6));
  for (const auto& content : {bytes, gzipped(bytes, directory.path("scratch"))}) {
    auto images = read_idx<3>(directory.write("images", content));
    CHECK(images.extents == std::array<std::size_t, 3>{2, 3, 1});
    CHECK(images.values == std::vector<std::uint8_t>{0, 1, 127, 128, 254, 255});
  }
}

TEST_CASE("an IDX file larger than one piece is read whole") {
  temporary_directory directory;
  std::uint32_t count = (1u << 24) + 5;
  std::string values(count, '\x05');
  values.back() = '\x09';
  auto labels = read_idx<1>(directory.write("labels", idx_bytes({count}, values)));
  REQUIRE(labels.values.size() == count);
  CHECK(labels.values.back() == 9);
  CHECK(labels.values[(1u << 24) - 1] == 5);
}

TEST_CASE("a wrong magic number is shown") {
  CHECK(fault(idx_bytes({6}, std::string(60, '\0'))) == ": magic number is 0x00000801, expected 0x00000803");
  CHECK(fault("PK\x03\x04" + std::string(60, 'x')) == ": magic number is 0x504b0304, expected 0x00000803");
}

TEST_CASE("extents that cannot be are refused before memory is taken for them") {
  CHECK(fault(idx_bytes({0, 28, 28}, "")) == ": extent 0 is zero");
  CHECK(fault(idx_bytes({1, 28, 0}, "")) == ": extent 2 is zero");
  CHECK(fault(idx_bytes({1, 4097, 1}, "")) == ": extent 1 is 4097, more than a picture's side can be (4096)");
  CHECK(fault(idx_bytes({0xffffffff, 4096, 4096}, "abc")) ==
        ": 4294967295 x 4096 x 4096 are 72057594021150720 bytes, the most that are read is 1073741824");
  CHECK(fault(idx_bytes({1 << 10, 1 << 10, (1 << 10) + 1}, "abc")) ==
        ": 1024 x 1024 x 1025 are 1074790400 bytes, the most that are read is 1073741824");
  CHECK(fault(idx_bytes({1 << 10, 1 << 10, 1 << 10}, "abc")) ==
        ": is truncated: 1024 x 1024 x 1024 are 1073741824 bytes, but it has 3");
}

TEST_CASE("a plain IDX file cut off anywhere is noticed") {
  auto whole = idx_bytes({2, 2, 2}, "abcdefgh");
  CHECK(fault("") == ": is truncated: its header has 0 bytes of 16");
  CHECK(fault(whole.substr(0, 15)) == ": is truncated: its header has 15 bytes of 16");
  CHECK(fault(whole.substr(0, 16)) == ": is truncated: 2 x 2 x 2 are 8 bytes, but it has 0");
  CHECK(fault(whole.substr(0, 23)) == ": is truncated: 2 x 2 x 2 are 8 bytes, but it has 7");
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    INFO(cut);
    CHECK(fault(whole.substr(0, cut)).starts_with(": is truncated: "));
  }
}

TEST_CASE("a gzipped IDX file cut off or damaged is noticed") {
  temporary_directory directory;
  auto whole = gzipped(idx_bytes({3, 10, 10}, noise(300)), directory.path("scratch"));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    INFO(cut);
    CHECK(fault(whole.substr(0, cut)) != "");
  }
  CHECK(fault(whole.substr(0, whole.size() / 2)) == ": is truncated: the gzip stream has no end");
  CHECK(fault(whole.substr(0, whole.size() - 1)) == ": is truncated: the gzip stream has no end");

  auto damaged = whole;
  damaged[whole.size() - 6] ^= 1; // in the checksum
  CHECK(fault(damaged) == ": is not valid gzip data: incorrect data check");
  CHECK(fault(gzipped(idx_bytes({3, 10, 10}, noise(299)), directory.path("scratch"))) ==
        ": is truncated: 3 x 10 x 10 are 300 bytes, but it has 299");
}

TEST_CASE("bytes after the promised ones are refused") {
  temporary_directory directory;
  auto longer = idx_bytes({2, 2, 2}, "abcdefghi");
  CHECK(fault(longer) == ": has bytes after the 8 of 2 x 2 x 2");
  CHECK(fault(gzipped(longer, directory.path("scratch"))) == ": has bytes after the 8 of 2 x 2 x 2");
}

TEST_CASE("an IDX file that is missing or a directory is named") {
  temporary_directory directory;
  CHECK(thrown_message<data_error>([&] { read_idx<1>(directory.path("none")); }) ==
        directory.path("none") + ": cannot be opened: No such file or directory");
  CHECK(thrown_message<data_error>([&] { read_idx<1>(directory.path("")); }) ==
        directory.path("") + ": is a directory, expected an IDX file");
}

} // namespace idx_file_test
