// A header that includes one that is not there.
#pragma once

#include "../core/missing.hpp"
