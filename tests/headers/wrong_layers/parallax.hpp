// Everything.
#pragma once

#include <parallax/core/upward.hpp>
