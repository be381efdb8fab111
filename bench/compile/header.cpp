// The header alone, not precompiled.
#include <parallax/parallax.hpp>
