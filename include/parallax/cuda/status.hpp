// What a call of the device libraries returned, and the one function that checks it.
#pragma once

#include <parallax/runtime/errors.hpp>

#include <source_location>
#include <string>
#include <string_view>

namespace parallax {

/// A call of the CUDA runtime, cuBLAS, cuRAND or NCCL failed.
class cuda_error : public error {
 public:
  /// `call` of `library` on `device` (-1: none in particular) returned `code`, which `meaning` explains.
  cuda_error(std::string_view library, std::string_view call, int code, std::string_view meaning, int device,
             const std::source_location& position)
      : error(std::string(library) + ": " + std::string(call) + " returned " + std::to_string(code) + " (" +
              std::string(meaning) + ")" + (device < 0 ? "" : " on device " + std::to_string(device)) + ", called at " +
              position.file_name() + ":" + std::to_string(position.line())),
        call_(call),
        code_(code),
        device_(device) {}

  /// The function that failed, such as "cudaMallocAsync".
  const std::string& call() const noexcept { return call_; }
  /// What it returned.
  int code() const noexcept { return code_; }
  /// The device it was called for; -1 for none in particular.
  int device() const noexcept { return device_; }

 private:
  std::string call_;
  int code_;
  int device_;
};

namespace cuda {

/// What a call returned. Texts have static storage.
struct [[nodiscard]] status {
  /// How the orchestration may go on.
  enum class kind : unsigned char {
    success,
    not_ready,     ///< of a query: what was asked about is still going on
    unsupported,   ///< of a question: the library does not do what was asked about
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

/// Throws `cuda_error` unless `what` is a success. Every status passes through here.
inline void check(const status& what, int device = -1,
                  const std::source_location& where = std::source_location::current()) {
  if (!what.ok()) [[unlikely]]
    throw cuda_error(what.library, what.call, what.code, what.meaning, device, where);
}

/// Whether what was asked about is over. Throws `cuda_error` where the question failed.
inline bool is_ready(const status& what, int device = -1,
                     const std::source_location& where = std::source_location::current()) {
  if (what.is == status::kind::not_ready) return false;
  check(what, device, where);
  return true;
}

} // namespace cuda
} // namespace parallax
