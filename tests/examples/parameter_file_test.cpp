// Tests of examples/support/parameter_file.hpp.
#include "support/parameter_file.hpp"

#include "support/test.hpp"
#include "temporary_directory.hpp"
#include "thrown_message.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace parameter_file_test {

using examples::parameter_file;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> names_in(const temporary_directory& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path("")))
    names.insert(entry.path().filename().string());
  return names;
}

} // namespace

TEST_CASE("parameters are written so that they read back as the same floats") {
  temporary_directory directory;
  std::array<std::int64_t, 2> shape{2, 2};
  std::vector<float> values{0.1f, -3.40282347e38f, 1.17549435e-38f, 1.f / 3};
  {
    parameter_file file(directory.path("parameters"));
    file.write("weight", shape, values);
    file.finish();
  }
  std::ifstream file(directory.path("parameters"));
  std::string header;
  std::getline(file, header);
  CHECK(header == "# weight 2 2");
  for (float value : values) {
    std::string text;
    std::getline(file, text);
    CHECK(std::stof(text) == value);
  }
  CHECK(file.peek() == std::ifstream::traits_type::eof());
}

TEST_CASE("a file that is there stays as it is until all parameters are written") {
  temporary_directory directory;
  const auto path = directory.write("parameters", "what was here");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const std::array<std::int64_t, 1> shape{2};
  {
    parameter_file file(path);
    CHECK(names_in(directory) == std::set<std::string>{"parameters"});
    file.write("bias", shape, std::vector<float>{1.f, 2.f});
    CHECK(content_of(path) == "what was here");
  }
  CHECK(content_of(path) == "what was here"); // it was not finished
  CHECK(names_in(directory) == std::set<std::string>{"parameters"});

  parameter_file file(path);
  file.write("bias", shape, std::vector<float>{1.f, 2.f});
  file.finish();
  CHECK(content_of(path) == "# bias 2\n1\n2\n");
  CHECK(names_in(directory) == std::set<std::string>{"parameters"});
  CHECK(std::filesystem::status(path).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("a link stays a link, a device a device") {
  temporary_directory directory;
  const auto target = directory.write("target", "what was here");
  const auto link = directory.path("link"), to_nothing = directory.path("to_nothing");
  std::filesystem::create_symlink("target", link);
  std::filesystem::create_symlink(directory.path("new"), to_nothing);
  const std::array<std::int64_t, 1> shape{1};
  for (const std::string& path : {link, to_nothing, std::string("/dev/null")}) {
    parameter_file file(path);
    file.write("bias", shape, std::vector<float>{3.f});
    file.finish();
  }
  CHECK(std::filesystem::is_symlink(link));
  CHECK(content_of(target) == "# bias 1\n3\n");
  CHECK(std::filesystem::is_symlink(to_nothing));
  CHECK(content_of(directory.path("new")) == content_of(target));
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a file that is read is not replaced, under whatever name") {
  temporary_directory directory;
  const auto read = directory.write("digits.csv", "1,2,3");
  const auto other = directory.write("other", "");
  const auto symbolic = directory.path("symbolic"), hard = directory.path("hard");
  std::filesystem::create_symlink(read, symbolic);
  std::filesystem::create_hard_link(read, hard);
  const auto fault = [&](const std::string& path) {
    return thrown_message<examples::usage_error>(
        [&] { examples::refuse_to_replace(std::vector{other, read}, "--save", path); });
  };
  for (const auto& path :
       {read, directory.path("./digits.csv"),
        directory.path("../") + std::filesystem::path(directory.path("")).parent_path().filename().string() +
            "/digits.csv",
        symbolic, hard})
    CHECK(fault(path) == "--save would replace " + read + ", which is read");
  CHECK(fault(other) == "--save would replace " + other + ", which is read");
  CHECK(fault(directory.path("new")) == "nothing thrown");
  CHECK(content_of(read) == "1,2,3");
}

TEST_CASE("a file that cannot be written is named") {
  temporary_directory directory;
  auto missing = directory.path("none/parameters");
  CHECK(thrown_message<std::runtime_error>([&] { parameter_file file(missing); }) ==
        missing + ": cannot be created: No such file or directory");
}

TEST_CASE("a full disk is noticed") {
  if (!std::ifstream("/dev/full")) return;
  parameter_file file("/dev/full");
  std::array<std::int64_t, 1> shape{1};
  file.write("bias", shape, std::vector<float>{1.f});
  CHECK(thrown_message<std::runtime_error>([&] { file.finish(); }).starts_with("/dev/full: cannot be written"));
}

} // namespace parameter_file_test
