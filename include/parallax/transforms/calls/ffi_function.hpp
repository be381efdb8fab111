// Functions of users' own that programs call, as the passes and the backends see them.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/trace/tracer.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The arguments of a user's own function: the addresses of its operands and then of its results, which are row-major
/// arrays, and the extents of all of them, array after array.
struct ffi_arguments {
  std::byte* const* data;
  const std::int64_t* extents;
};

/// Its address names a type at run time.
template <class T> inline constexpr char name_of_type = 0;

/// A user's own function. A trace keeps its address, a program its number.
struct ffi_function {
  void (*host)(const ffi_arguments&) = nullptr;
  /// Enqueues the function on the stream at the given address; null if the rules have no `cuda`.
  void (*cuda)(const void* stream, const ffi_arguments&) = nullptr;
  const char* stream_type = nullptr; ///< the `name_of_type` of the stream that `cuda` takes
  /// Appends the function for a batch: mapped operands and all results are mapped along axis 0. Null if a loop is to
  /// call the function for each element.
  growing_vector<tracer> (*batch)(context&, const growing_vector<tracer>& operands,
                                  const operand_flags& mapped) = nullptr;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
