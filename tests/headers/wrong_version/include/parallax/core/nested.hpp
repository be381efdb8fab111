// Neither, in a namespace of its own.
#pragma once

namespace parallax::primitives {
struct nested {};
} // namespace parallax::primitives
