// Tests of examples/support/table_file.hpp.
#include "support/table_file.hpp"

#include "support/test.hpp"
#include "temporary_directory.hpp"
#include "thrown_message.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace table_file_test {

using examples::table_file;

TEST_CASE("a table has a line for each row, of numbers and of spans of numbers") {
  const temporary_directory directory;
  const std::string path = directory.path("table.csv");
  const std::array arguments{path.c_str()};
  const std::vector<float> values{0.5f, -2};
  table_file table(arguments);
  CHECK(table.is_wanted());
  table.row(1, std::span(values));
  table.row(std::span(values), 3);
  table.finish();
  std::ifstream file(path);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "1,0.5,-2\n0.5,-2,3\n");
}

TEST_CASE("without an argument nothing is written") {
  table_file table({});
  CHECK_FALSE(table.is_wanted());
  table.row(1);
  table.finish();
}

TEST_CASE("a table that cannot be written, and arguments that are none of its, are errors") {
  const std::array nowhere{"/nowhere/table.csv"};
  CHECK(thrown_message<examples::data_error>([&] { table_file table(nowhere); }) ==
        "/nowhere/table.csv: cannot be written");
  const std::array two{"a.csv", "b.csv"};
  CHECK(thrown_message<std::runtime_error>([&] { table_file table(two); }) ==
        "takes one argument at most, the file for a table of its results");
  const std::array full{"/dev/full"};
  CHECK(thrown_message<examples::data_error>([&] {
          table_file table(full);
          table.row(1);
          table.finish();
        }) == "/dev/full: cannot be written");
}

} // namespace table_file_test
