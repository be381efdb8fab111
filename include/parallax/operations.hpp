// Everything that traced functions are written with, without what runs them: operations and transformations.
#pragma once

#include <parallax/core/precision.hpp>
#include <parallax/core/pytree.hpp>
#include <parallax/ops/assembling.hpp>
#include <parallax/ops/collectives.hpp>
#include <parallax/ops/creation.hpp>
#include <parallax/ops/elementwise.hpp>
#include <parallax/ops/names_as_arguments.hpp>
#include <parallax/ops/operators.hpp>
#include <parallax/ops/philox.hpp>
#include <parallax/ops/products.hpp>
#include <parallax/ops/random.hpp>
#include <parallax/ops/reductions.hpp>
#include <parallax/ops/reshaping.hpp>
#include <parallax/ops/slicing.hpp>
#include <parallax/transforms/grad.hpp>
#include <parallax/transforms/jit.hpp>
#include <parallax/transforms/loops.hpp>
#include <parallax/transforms/partial.hpp>
#include <parallax/transforms/pmap.hpp>
#include <parallax/transforms/vmap.hpp>
