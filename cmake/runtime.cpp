// The library parallax::runtime: what no program changes.
#include <parallax/runtime_source.hpp>
