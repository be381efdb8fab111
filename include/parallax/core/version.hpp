// The version of the library, and the namespace that contains all of the library.
#pragma once

// A process may have files that were compiled with different versions. The linker keeps one of several definitions with
// equal names, so all of the library is in an inline namespace of its version: headers open `namespace
// parallax::PARALLAX_INLINE_VERSION`. The macro contains `inline` because tools overlook functions in a namespace that
// a header opens with the keyword itself.
#define PARALLAX_INLINE_VERSION inline v0_2

namespace parallax::PARALLAX_INLINE_VERSION {

/// As the package says it.
inline constexpr char library_version[] = "0.2.0";

// What users call lies in `parallax` itself, all else in `detail` or in a room's own namespace. These namespaces use
// what lies in `detail` by its bare name.
namespace detail {}
namespace build {
using namespace parallax::detail;
}
namespace cuda {
using namespace parallax::detail;
}
namespace distributed {
using namespace parallax::detail;
}
namespace host {
using namespace parallax::detail;
}
namespace io {
using namespace parallax::detail;
}
namespace math {
using namespace parallax::detail;
}
namespace optim {
using namespace parallax::detail;
}
namespace plain {
using namespace parallax::detail;
}
namespace primitives {
using namespace parallax::detail;
}
namespace processes {
using namespace parallax::detail;
}
namespace runtime {
using namespace parallax::detail;
}

} // namespace parallax::PARALLAX_INLINE_VERSION
