// A header that includes one of a higher room.
#pragma once

#include <parallax/host/loop.hpp>
