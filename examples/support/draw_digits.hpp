// Draws pictures side by side with shades of block characters (UTF-8), each with a caption below.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace examples {

/// A picture of `width * height` pixels from 0 (paper) to 1 (ink), and an ASCII text to print below it.
struct captioned_picture {
  std::size_t width;
  std::size_t height;
  std::span<const float> pixels;
  std::string caption;
};

namespace detail {

/// The character that covers about `ink` (0 to 1) of its cell.
inline std::string_view shade(float ink) {
  constexpr std::array<std::string_view, 5> shades{" ", "░", "▒", "▓", "█"};
  auto step = static_cast<int>(std::clamp(ink, 0.f, 1.f) * 4.f + 0.5f);
  return shades[static_cast<std::size_t>(step)];
}

// A character is about twice as high as wide: a small picture's pixel becomes two characters side by side, and in a
// larger picture one character covers two pixels, one above the other.
inline constexpr std::size_t small_side = 16;
inline bool is_small(const captioned_picture& picture) { return picture.width <= small_side; }

inline std::size_t columns_of(const captioned_picture& picture) {
  return is_small(picture) ? 2 * picture.width : picture.width;
}
inline std::size_t lines_of(const captioned_picture& picture) {
  return is_small(picture) ? picture.height : (picture.height + 1) / 2;
}

inline std::string line_of(const captioned_picture& picture, std::size_t line) {
  std::string text;
  for (std::size_t x = 0; x < picture.width; ++x) {
    if (is_small(picture)) {
      auto cell = shade(picture.pixels[line * picture.width + x]);
      text.append(cell).append(cell);
    } else {
      auto lower = std::min(2 * line + 1, picture.height - 1);
      text += shade((picture.pixels[2 * line * picture.width + x] + picture.pixels[lower * picture.width + x]) / 2);
    }
  }
  return text;
}

} // namespace detail

/// How many pictures of this width fit side by side into `columns` characters: at least one.
inline std::size_t pictures_per_line(std::size_t picture_width, std::size_t columns) {
  auto width = detail::columns_of({picture_width, 0, {}, {}}) + 2;
  return std::max<std::size_t>((columns + 2) / width, 1);
}

/// Draws one line of pictures of equal size, two columns apart.
inline void draw_pictures(std::ostream& out, std::span<const captioned_picture> pictures) {
  if (pictures.empty()) return;
  for (std::size_t line = 0; line < detail::lines_of(pictures[0]); ++line) {
    std::string text;
    for (const auto& picture : pictures) text += detail::line_of(picture, line) + "  ";
    out << text << '\n';
  }
  std::string captions;
  for (const auto& picture : pictures) {
    auto caption = picture.caption.substr(0, detail::columns_of(picture));
    captions += caption + std::string(detail::columns_of(picture) + 2 - caption.size(), ' ');
  }
  out << captions << '\n';
}

} // namespace examples
