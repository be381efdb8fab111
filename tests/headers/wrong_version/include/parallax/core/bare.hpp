// In no namespace of a version.
#pragma once

namespace parallax {
struct bare {};
} // namespace parallax
