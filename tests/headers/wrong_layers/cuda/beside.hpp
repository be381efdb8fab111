// A header of one backend that includes one of the other.
#pragma once

#include <parallax/host/loop.hpp>
