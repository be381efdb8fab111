// Programs of several processes: see docs/processes.md. Nothing of MPI or CUDA is included.
#pragma once

#include <parallax/distributed/session.hpp>
#include <parallax/distributed/trees.hpp>
#include <parallax/parallax.hpp>
