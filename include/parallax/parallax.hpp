// Parallax: array programs that are compiled with the code around them. This header includes everything.
#pragma once

// first, so that for errors in them g++ says in few lines who includes them
#include <parallax/core/support/diagnostics.hpp>
#include <parallax/core/trace/refused_uses.hpp>

#include <parallax/ops/expressions/lazy.hpp>
#include <parallax/ops/shapes/reshaping.hpp>

#include <parallax/compile/cost.hpp>
#include <parallax/compile/program.hpp>

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/as_mdspan.hpp>
#include <parallax/arrays/borrow.hpp>
#include <parallax/arrays/memory/transfers.hpp>
#include <parallax/arrays/sharded.hpp>
#include <parallax/backends/execute.hpp>
#include <parallax/backends/execute_donating.hpp>
#include <parallax/backends/execute_half.hpp>
#include <parallax/backends/placing.hpp>
#include <parallax/compile/trace/expression.hpp>
#include <parallax/core/types/pytree.hpp>
#include <parallax/io/print.hpp>
#include <parallax/ops/collectives/collectives.hpp>
#include <parallax/ops/collectives/names_as_arguments.hpp>
#include <parallax/ops/indexing/dynamic_slicing.hpp>
#include <parallax/ops/indexing/gather.hpp>
#include <parallax/ops/indexing/indexing.hpp>
#include <parallax/ops/indexing/slicing.hpp>
#include <parallax/ops/indexing/take.hpp>
#include <parallax/ops/math/elementwise.hpp>
#include <parallax/ops/math/operators.hpp>
#include <parallax/ops/math/order.hpp>
#include <parallax/ops/math/products.hpp>
#include <parallax/ops/math/reductions.hpp>
#include <parallax/ops/random/philox.hpp>
#include <parallax/ops/random/random.hpp>
#include <parallax/ops/shapes/assembling.hpp>
#include <parallax/ops/shapes/creation.hpp>
#include <parallax/optim/adam.hpp>
#include <parallax/optim/sgd.hpp>
#include <parallax/runtime/into.hpp>
#include <parallax/sharding/device_put.hpp>
#include <parallax/sharding/shard_map_call.hpp>
#include <parallax/transforms/derivatives/checkpoint.hpp>
#include <parallax/transforms/derivatives/custom_rules.hpp>
#include <parallax/transforms/derivatives/grad.hpp>
#include <parallax/transforms/derivatives/jacobian.hpp>
#include <parallax/transforms/derivatives/jvp.hpp>
#include <parallax/transforms/derivatives/linear_transpose.hpp>
#include <parallax/transforms/derivatives/linearize.hpp>
#include <parallax/transforms/derivatives/vjp.hpp>
#include <parallax/transforms/functions/ffi_operation.hpp>
#include <parallax/transforms/functions/jit.hpp>
#include <parallax/transforms/functions/partial.hpp>
#include <parallax/transforms/loops/associative_scan.hpp>
#include <parallax/transforms/loops/cond.hpp>
#include <parallax/transforms/loops/loops.hpp>
#include <parallax/transforms/loops/while_loop.hpp>
#include <parallax/transforms/maps/pmap.hpp>
#include <parallax/transforms/maps/shard_map.hpp>
#include <parallax/transforms/maps/vmap.hpp>
#include <parallax/transforms/passes/donate.hpp>
#include <parallax/transforms/solvers/custom_root.hpp>
#include <parallax/transforms/solvers/gmres.hpp>
