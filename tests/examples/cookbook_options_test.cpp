// Tests of examples/support/cookbook_options.hpp.
#include "support/cookbook_options.hpp"

#include "support/test.hpp"
#include "thrown_message.hpp"

#include <string>
#include <vector>

namespace cookbook_options_test {

using namespace examples;

namespace {

std::string fault(const std::vector<const char*>& arguments) {
  return thrown_message<usage_error>([&] { parse_cookbook_options(arguments); });
}

} // namespace

TEST_CASE("the cookbook's matrices have the size that is asked for") {
  for (const std::vector<const char*>& arguments :
       {std::vector{"--size", "5000x6000"}, std::vector{"--size=5000x6000"}}) {
    auto options = parse_cookbook_options(arguments);
    CHECK(options.rows == 5000);
    CHECK(options.columns == 6000);
  }
  CHECK(parse_cookbook_options({}).rows == 500);
  CHECK(parse_cookbook_options(std::vector{"--help"}).help);
}

TEST_CASE("what is no size is refused") {
  CHECK(fault({"--size"}) == "--size needs ROWSxCOLUMNS after it");
  for (const char* text :
       {"", "5", "5x", "x5", "5x6x7", "5 x 6", "0x5", "5x0", "-5x6", "20001x1", "1x20001", "99999999999999999999x1"})
    CHECK(fault({"--size", text}).starts_with("--size expects two numbers from 1 to 20000, as in 5000x6000, got '"));
  CHECK(fault({"--sizes"}) == "unknown argument '--sizes'");
}

} // namespace cookbook_options_test
