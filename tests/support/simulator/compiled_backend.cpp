// What compiled_backend.hpp declares.
#define SIMULATED_TEMPLATE template
#include "support/simulator/compiled_backend.hpp"
