// The result of a call of the device libraries, and the one function that checks it.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/errors.hpp>

#include <functional>
#include <mutex>
#include <new>
#include <set>
#include <source_location>
#include <string>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The result of a call. Texts have static storage.
struct [[nodiscard]] status {
  /// How the orchestration may go on.
  enum class kind : unsigned char {
    success,
    not_ready,     ///< of a query: the work is still going on
    unsupported,   ///< of a question: the library does not do it
    out_of_memory, ///< of an allocation
    failure
  };
  kind is = kind::success;
  int code = 0;
  const char* library = "";
  const char* call = "";
  const char* meaning = "";

  bool ok() const { return is == kind::success; }
};

/// A text for a status, with static storage: one for all that are equal.
inline const char* kept_text(std::string_view text) noexcept {
  struct texts {
    std::mutex access;
    std::set<std::string, std::less<>> all;
  };
  try {
    static texts& kept = *new texts; // outlives static arrays
    const std::lock_guard lock(kept.access);
    const auto known = kept.all.find(text);
    return (known == kept.all.end() ? kept.all.emplace(text).first : known)->c_str();
  } catch (const std::bad_alloc&) {
    return "no memory is left to say what";
  }
}

/// Throws `cuda_error` unless `what` is a success. Every status passes through here.
inline void check(const status& what, int device = -1,
                  const std::source_location& where = std::source_location::current()) {
  if (!what.ok()) [[unlikely]]
    throw cuda_error(what.library, what.call, what.code, what.meaning, device, where);
}

/// Whether the work that a query was about is over. Throws `cuda_error` if the query failed.
inline bool is_ready(const status& what, int device = -1,
                     const std::source_location& where = std::source_location::current()) {
  if (what.is == status::kind::not_ready) return false;
  check(what, device, where);
  return true;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
