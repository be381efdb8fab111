// The host backend uses programs, and the code that runs them, by their bare names.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/program/section_records.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace runtime {}
namespace host {
using namespace compiled;
using namespace runtime;
} // namespace host
} // namespace parallax::PARALLAX_INLINE_VERSION
