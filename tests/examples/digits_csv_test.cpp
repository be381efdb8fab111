// Tests of examples/support/digits_csv.hpp.
#include "support/digits_csv.hpp"

#include "support/test.hpp"
#include "temporary_directory.hpp"
#include "thrown_message.hpp"

#include <string>
#include <string_view>

namespace digits_csv_test {

using namespace examples;

namespace {

std::string row(std::string_view label) {
  std::string text;
  for (int i = 0; i < 64; ++i) text += std::to_string(i % 17) + ",";
  return text + std::string(label);
}

/// The fault found in a file of this content, without the file's path.
std::string fault(std::string_view content) {
  temporary_directory directory;
  auto path = directory.write("digits.csv", content);
  auto message = thrown_message<data_error>([&] { read_digits_csv(path); });
  INFO(message);
  REQUIRE(message.starts_with(path));
  return message.substr(path.size());
}

} // namespace

TEST_CASE("digits are read from CSV with pixels from 0 to 1") {
  temporary_directory directory;
  for (auto content :
       {row("7") + "\n" + row("0") + "\n", row("7") + "\n" + row("0"), row("7") + "\r\n" + row("0") + "\r\n"}) {
    auto data = read_digits_csv(directory.write("digits.csv", content));
    CHECK(data.width == 8);
    CHECK(data.height == 8);
    CHECK(data.labels == std::vector<int>{7, 0});
    REQUIRE(data.pixels.size() == 128);
    CHECK(data.pixels[0] == 0.f);
    CHECK(data.pixels[16] == 1.f);
    CHECK(data.pixels[64 + 17 + 4] == 0.25f);
  }
}

TEST_CASE("a faulty CSV file is described by line and field") {
  auto good = row("7") + "\n";
  CHECK(fault("") == ": holds no rows");
  CHECK(fault(good + "\n" + good) == ":2: field 1 is '', expected a pixel from 0 to 16");
  CHECK(fault(good + "1,2,x\n") == ":2: field 3 is 'x', expected a pixel from 0 to 16");
  CHECK(fault(good + "1,2, 3\n") == ":2: field 3 is ' 3', expected a pixel from 0 to 16");
  CHECK(fault("17,0\n") == ":1: field 1 is '17', expected a pixel from 0 to 16");
  CHECK(fault("-1,0\n") == ":1: field 1 is '-1', expected a pixel from 0 to 16");
  CHECK(fault("99999999999999999999\n") == ":1: field 1 is '99999999999999999999', expected a pixel from 0 to 16");
  CHECK(fault(good + std::string(1 << 16, '1')) == ":2: is longer than a row can be");
  CHECK(fault(std::string(4000, '\0')).starts_with(":1: field 1 is '????"));
  CHECK(fault(row("10")) == ":1: field 65 is '10', expected a label from 0 to 9");
  CHECK(fault(row("")) == ":1: field 65 is '', expected a label from 0 to 9");
  CHECK(fault(row("1,2")) == ":1: 66 fields, expected 65 (64 pixels and a label)");
  CHECK(fault(good + "1,2,3\n") == ":2: 3 fields, expected 65 (64 pixels and a label)");
  CHECK(fault("5") == ":1: 1 field, expected 65 (64 pixels and a label)");
}

TEST_CASE("a CSV file cut off inside a row is noticed") {
  auto whole = row("7") + "\n" + row("3");
  for (std::size_t cut = row("7").size() + 2; cut < whole.size(); ++cut) {
    INFO(cut);
    CHECK(fault(whole.substr(0, cut)).starts_with(":2: "));
  }
}

TEST_CASE("binary data give a message of one printable line") {
  CHECK(fault(std::string("\x1f\x8b\x00\x01\n", 5)) ==
        ":1: field 1 is '" + std::string(4, '?') + "', expected a pixel from 0 to 16");
  CHECK(fault(std::string(5000, 'a')) ==
        ":1: field 1 is '" + std::string(24, 'a') + "...', expected a pixel from 0 to 16");
}

TEST_CASE("a CSV file that is missing or a directory is named") {
  temporary_directory directory;
  CHECK(thrown_message<data_error>([&] { read_digits_csv(directory.path("none")); }) ==
        directory.path("none") + ": cannot be opened: No such file or directory");
  CHECK(thrown_message<data_error>([&] { read_digits_csv(directory.path("")); }) ==
        directory.path("") + ": is a directory, expected a CSV file");
}

} // namespace digits_csv_test
