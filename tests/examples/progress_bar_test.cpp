// Tests of examples/support/progress_bar.hpp.
#include "support/progress_bar.hpp"

#include "support/test.hpp"

#include <sstream>
#include <string>

namespace progress_bar_test {

using examples::progress_bar;

TEST_CASE("a bar is drawn in place, as cells fill, and wiped at the end") {
  std::ostringstream out;
  {
    progress_bar bar(out, true, "epoch 1/2", 60);
    CHECK(out.str() == "\repoch 1/2 [" + std::string(30, '-') + "] 0/60\033[K");
    out.str("");
    bar.update(1); // half a cell: nothing new to see
    CHECK(out.str().empty());
    bar.update(2);
    CHECK(out.str() == "\repoch 1/2 [#" + std::string(29, '-') + "] 2/60\033[K");
    out.str("");
    bar.update(61);
    CHECK(out.str() == "\repoch 1/2 [" + std::string(30, '#') + "] 60/60\033[K");
    out.str("");
  }
  CHECK(out.str() == "\r\033[K");
}

TEST_CASE("a bar for fewer steps than cells reaches its end") {
  std::ostringstream out;
  progress_bar bar(out, true, "x", 3);
  for (std::size_t i = 1; i <= 3; ++i) bar.update(i);
  CHECK(out.str().find("[" + std::string(30, '#') + "] 3/3") != std::string::npos);
}

TEST_CASE("a bar of nothing to do is empty and stays so") {
  std::ostringstream out;
  progress_bar bar(out, true, "x", 0);
  bar.update(0);
  CHECK(out.str() == "\rx [" + std::string(30, '-') + "] 0/1\033[K");
}

TEST_CASE("output that is no terminal gets no bar") {
  std::ostringstream out;
  {
    progress_bar bar(out, false, "x", 3);
    for (std::size_t i = 1; i <= 3; ++i) bar.update(i);
  }
  CHECK(out.str().empty());
}

} // namespace progress_bar_test
