// Tests of examples/support/digits_options.hpp.
#include "support/digits_options.hpp"

#include "support/test.hpp"
#include "thrown_message.hpp"

#include <array>
#include <string>
#include <vector>

namespace digits_options_test {

using namespace examples;

namespace {

digits_options parse(std::vector<const char*> arguments) { return parse_digits_options(arguments); }

std::string fault(std::vector<const char*> arguments) {
  return thrown_message<usage_error>([&] { parse(arguments); });
}

} // namespace

TEST_CASE("options have defaults, which the help tells") {
  auto options = parse({});
  CHECK(options.hidden == std::array<std::int64_t, 2>{128, 64});
  CHECK_FALSE(options.devices);
  CHECK_FALSE(options.data);
  CHECK_FALSE(options.help);

  auto help = digits_help();
  for (auto text : {"(128 64)", "(40)", "(128)", "(0.25)", "(0)"}) CHECK(help.find(text) != std::string::npos);
  CHECK(options.epochs == 40);
  CHECK(options.batch == 128);
  CHECK(options.rate == 0.25f);
  CHECK(options.seed == 0);
}

TEST_CASE("options are read in both spellings, and the last one wins") {
  for (const auto& options :
       {parse({"--hidden", "32", "16", "--epochs", "3", "--batch", "64", "--rate", "0.5", "--devices", "4", "--seed",
               "9", "--data", "a=b.csv", "--save-parameters", "p.txt"}),
        parse({"--epochs=7", "--hidden=32,16", "--epochs=3", "--batch=64", "--rate=5e-1", "--devices=4", "--seed=9",
               "--data=a=b.csv", "--save-parameters=p.txt"})}) {
    CHECK(options.hidden == std::array<std::int64_t, 2>{32, 16});
    CHECK(options.epochs == 3);
    CHECK(options.batch == 64);
    CHECK(options.rate == 0.5f);
    CHECK(options.devices == std::size_t{4});
    CHECK(options.seed == 9);
    CHECK(options.data == std::string("a=b.csv"));
    CHECK(options.save_parameters == std::string("p.txt"));
  }
  CHECK(parse({"--mnist", "dir"}).mnist == std::string("dir"));
  CHECK(parse({"--help"}).help);
}

TEST_CASE("what is no option is named") {
  CHECK(fault({"--epoch", "3"}) == "unknown option '--epoch'");
  CHECK(fault({"-e"}) == "unknown option '-e'");
  CHECK(fault({"--"}) == "unknown option '--'");
  CHECK(fault({"digits.csv"}) == "unexpected argument 'digits.csv'");
  CHECK(fault({""}) == "unexpected argument ''");
  CHECK(fault({"--bad\n\x1b[31m"}) == "unknown option '--bad??[31m'");
}

TEST_CASE("missing and surplus values are named") {
  CHECK(fault({"--epochs"}) == "--epochs needs N after it");
  CHECK(fault({"--hidden", "8"}) == "--hidden needs W1 W2 after it");
  CHECK(fault({"--hidden=8"}) == "--hidden expects two values, got '8'");
  CHECK(fault({"--help=yes"}) == "--help takes no value, got 'yes'");
  CHECK(fault({"--data="}) == "--data expects a path, got ''");
}

TEST_CASE("values out of range are named with the range") {
  CHECK(fault({"--hidden", "8", "x"}) == "--hidden expects a whole number from 1 to 65536, got 'x'");
  CHECK(fault({"--hidden=8,9,10"}) == "--hidden expects a whole number from 1 to 65536, got '9,10'");
  CHECK(fault({"--hidden", "0", "8"}) == "--hidden expects a whole number from 1 to 65536, got '0'");
  for (auto bad : {"0", "-1", "1.5", "3 ", " 3", "+3", "0x10", "", "99999999999999999999"})
    CHECK(fault({"--epochs", bad}) ==
          "--epochs expects a whole number from 1 to 1000000, got '" + std::string(bad) + "'");
  for (auto bad : {"0", "-0.1", "nan", "inf", "1e999", "0,1", "fast", ""})
    CHECK(fault({"--rate", bad}) == "--rate expects a positive number, got '" + std::string(bad) + "'");
  CHECK(fault({"--devices", "0"}) == "--devices expects a whole number from 1 to 1024, got '0'");
  CHECK(fault({"--seed", "4294967296"}) == "--seed expects a whole number from 0 to 4294967295, got '4294967296'");
}

TEST_CASE("two sources of data are refused") {
  CHECK(fault({"--data", "a", "--mnist", "b"}) == "--data and --mnist cannot be given together");
}

} // namespace digits_options_test
