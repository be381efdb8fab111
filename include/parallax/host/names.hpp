// The host backend calls programs, and what runs them, by their bare names.
#pragma once

#include <parallax/program/records.hpp>

namespace parallax {
namespace runtime {}
namespace host {
using namespace compiled;
using namespace runtime;
} // namespace host
} // namespace parallax
