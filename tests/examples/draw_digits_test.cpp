// Tests of examples/support/draw_digits.hpp.
#include "support/draw_digits.hpp"

#include "support/test.hpp"

#include <array>
#include <sstream>
#include <vector>

namespace draw_digits_test {

using namespace examples;

TEST_CASE("a small picture takes two characters per pixel, in five shades") {
  std::array<float, 6> pixels{0.f, 0.25f, 0.5f, 0.75f, 1.f, 7.f};
  std::vector<captioned_picture> pictures{{3, 2, pixels, "reads"}};
  std::ostringstream out;
  draw_pictures(out, pictures);
  CHECK(out.str() == "  ░░▒▒  \n"
                     "▓▓████  \n"
                     "reads   \n");
}

TEST_CASE("pictures stand side by side above captions that are cut to fit") {
  std::array<float, 2> left{1.f, 0.f}, right{0.f, 1.f};
  std::vector<captioned_picture> pictures{{2, 1, left, "12345"}, {2, 1, right, "ab"}};
  std::ostringstream out;
  draw_pictures(out, pictures);
  CHECK(out.str() == "██      ██  \n"
                     "1234  ab    \n");
}

TEST_CASE("a large picture takes one character for two pixels, one above the other") {
  std::vector<float> pixels(17 * 3, 0.f);
  pixels[0] = 1.f;                  // only the upper one of a pair
  pixels[1] = pixels[17 + 1] = 1.f; // both
  pixels[2 * 17 + 2] = 1.f;         // in the last row, which has no partner
  std::vector<captioned_picture> pictures{{17, 3, pixels, ""}};
  std::ostringstream out;
  draw_pictures(out, pictures);
  CHECK(out.str() == "▒█" + std::string(17, ' ') + "\n  █" + std::string(16, ' ') + "\n" + std::string(19, ' ') + "\n");
}

TEST_CASE("as many pictures are drawn on a line as fit") {
  CHECK(pictures_per_line(8, 80) == 4);
  CHECK(pictures_per_line(28, 80) == 2);
  CHECK(pictures_per_line(28, 88) == 3);
  CHECK(pictures_per_line(28, 10) == 1);
}

TEST_CASE("no pictures draw nothing") {
  std::ostringstream out;
  draw_pictures(out, {});
  CHECK(out.str().empty());
}

} // namespace draw_digits_test
