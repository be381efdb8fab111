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
#include <parallax/io/print.hpp>
#include <parallax/operations.hpp>
#include <parallax/runtime/into.hpp>
#include <parallax/sharding/device_put.hpp>
#include <parallax/sharding/shard_map_call.hpp>
#include <parallax/transforms/functions/ffi_operation.hpp>
#include <parallax/transforms/maps/shard_map.hpp>
#include <parallax/transforms/passes/donate.hpp>
