// A header of a room that includes everything.
#pragma once

#include <parallax/parallax.hpp>
