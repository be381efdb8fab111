// Functions of users' own that programs call, as the passes and the backends see them.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/trace/tracer.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

/// What a user's own function is handed: the first bytes of its arguments and then of its results, row-major arrays,
/// and the extents of all, one array's behind the other's.
struct ffi_arguments {
  std::byte* const* data;
  const std::int64_t* extents;
};

/// What names a type at run time: its address.
template <class T> inline constexpr char name_of_type = 0;

/// A user's own function, of which a trace keeps the address and a program the number.
struct ffi_function {
  void (*host)(const ffi_arguments&) = nullptr;
  /// Enqueues it on a stream, of which the address is given; null where the rules have no `cuda`.
  void (*cuda)(const void* stream, const ffi_arguments&) = nullptr;
  const char* stream_type = nullptr; ///< the `name_of_type` of the stream that `cuda` takes
  /// Appends what it is for a batch, given operands of which the mapped ones are mapped along axis 0; returns results
  /// that are mapped there. Null where a loop is to call it for each element.
  growing_vector<tracer> (*batch)(context&, const growing_vector<tracer>& operands,
                                  const growing_vector<char>& mapped) = nullptr;
};

} // namespace parallax::PARALLAX_INLINE_VERSION
