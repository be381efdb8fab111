// The code that is the same for all programs, for one source of a process whose files are compiled with
// PARALLAX_LINKED_RUNTIME=1. The library parallax::runtime is a source that includes this header and nothing else.
#pragma once

#define PARALLAX_RUNTIME_SOURCE
#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>

#if !PARALLAX_LINKED_RUNTIME
#error "parallax/runtime_source.hpp is for programs whose files are compiled with PARALLAX_LINKED_RUNTIME=1"
#endif

#include <parallax/operations.hpp>

#include <parallax/arrays/check_pieces.hpp>
#include <parallax/arrays/checked_shapes.hpp>
#include <parallax/arrays/memory/block_cache.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/backends/default_backend.hpp>
#include <parallax/host/devices/device_pool.hpp>
#include <parallax/host/devices/worker_pool.hpp>
#include <parallax/host/kernels/products/product.hpp>
#include <parallax/host/run/program_run.hpp>
#include <parallax/host/run/run.hpp>
#include <parallax/io/print.hpp>
#include <parallax/runtime/checked_sizes.hpp>
#include <parallax/runtime/guard_message.hpp>
#include <parallax/runtime/value.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::linked {

void run_product(const product_arguments& p) { make_product(p); }

recycled_vector<runtime_value> run_program(const plan_view& plan, const kernel_function* kernels, const char* registers,
                                           recycled_vector<runtime_value>&& arguments, given_memory given) {
  return program_run(plan, kernels, registers, std::move(arguments)).run(given);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::linked

namespace parallax::PARALLAX_INLINE_VERSION::detail {

template std::string number_text(bool);
template std::string number_text(std::uint8_t);
template std::string number_text(std::int32_t);
template std::string number_text(std::uint32_t);
template std::string number_text(std::int64_t);
template std::string number_text(std::uint64_t);
template std::string number_text(float16);
template std::string number_text(bfloat16);
template std::string number_text(float);
template std::string number_text(double);

template std::string array_text(plain_span<const std::int64_t>, plain_span<const bool>);
template std::string array_text(plain_span<const std::int64_t>, plain_span<const std::uint8_t>);
template std::string array_text(plain_span<const std::int64_t>, plain_span<const std::int32_t>);
template std::string array_text(plain_span<const std::int64_t>, plain_span<const std::uint32_t>);
template std::string array_text(plain_span<const std::int64_t>, plain_span<const std::int64_t>);
template std::string array_text(plain_span<const std::int64_t>, plain_span<const std::uint64_t>);
template std::string array_text(plain_span<const std::int64_t>, plain_span<const float16>);
template std::string array_text(plain_span<const std::int64_t>, plain_span<const bfloat16>);
template std::string array_text(plain_span<const std::int64_t>, plain_span<const float>);
template std::string array_text(plain_span<const std::int64_t>, plain_span<const double>);

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
