// The CUDA backend on simulated devices, which compiled_backend.cpp compiles once for all sources of a program.
#pragma once

#include "support/simulator/api.hpp"

#include <parallax/core/version.hpp>
#include <parallax/parallax.hpp>

#ifndef SIMULATED_TEMPLATE
#define SIMULATED_TEMPLATE extern template
#endif

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

SIMULATED_TEMPLATE class backend<simulator::api>;
SIMULATED_TEMPLATE class device<simulator::api>;
SIMULATED_TEMPLATE class program_run<simulator::api>;
SIMULATED_TEMPLATE class graph_run<simulator::api>;
SIMULATED_TEMPLATE class exchange_runner<simulator::api>;
SIMULATED_TEMPLATE class section_runner<simulator::api>;
SIMULATED_TEMPLATE class captured_loops<section_runner<simulator::api>>;
SIMULATED_TEMPLATE class loop_steps<section_runner<simulator::api>, backend<simulator::api>>;

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
