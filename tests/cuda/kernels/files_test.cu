// Saving and loading as nvcc compiles them: it warned of comparisons that a number, which has no extents, makes empty.
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include <cstdio>
#include <string>
#include <tuple>

#include <unistd.h>

#include "support/test.hpp"

namespace files_test {

namespace plx = parallax;

TEST_CASE("numbers and arrays are saved and loaded") {
  using saved = std::tuple<plx::array<float, 0>, plx::array<double, plx::extents<2, 2>>, float>;
  const std::string path = "files_test_" + std::to_string(::getpid()) + ".npz";
  plx::save(path, saved{2.f, {{1, 2}, {3, 4}}, 5.f});
  const auto [number, matrix, plain] = plx::load<saved>(path);
  std::remove(path.c_str());
  CHECK(number.item() == 2);
  CHECK(matrix(1, 0) == 3);
  CHECK(plain == 5);
}

} // namespace files_test
