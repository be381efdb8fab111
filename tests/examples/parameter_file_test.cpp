// Tests of examples/support/parameter_file.hpp.
#include "support/parameter_file.hpp"

#include "temporary_directory.hpp"
#include "test.hpp"
#include "thrown_message.hpp"

#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

using examples::parameter_file;

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
