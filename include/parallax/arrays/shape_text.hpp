// Shapes in messages.
#pragma once

#include <parallax/core/extents.hpp>
#include <parallax/core/plain_span.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace parallax::runtime {

/// A shape as Python prints it: `()`, `(3,)`, `(3, 2)`; `dyn` stands for a dynamic extent.
inline std::string shape_text(plain_span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + (shape[i] == dyn ? std::string("dyn") : std::to_string(shape[i]));
  return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace parallax::runtime
