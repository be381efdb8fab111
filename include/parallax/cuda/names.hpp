// The CUDA backend uses programs, and the code that runs them, by their bare names.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/section_records.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace runtime {}
namespace cuda {
using namespace compiled;
using namespace runtime;
} // namespace cuda
} // namespace parallax::PARALLAX_INLINE_VERSION
