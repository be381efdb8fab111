// The errors of programs on CUDA devices, besides those of all programs. Files that are not compiled for CUDA can catch
// them too.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>

#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

/// A call of the CUDA runtime, cuBLAS, cuRAND or NCCL failed.
class cuda_error : public error {
 public:
  /// `call` of `library` on `device` (-1: none in particular) returned `code`, which `meaning` explains.
  cuda_error(std::string_view library, std::string_view call, int code, std::string_view meaning, int device,
             const std::source_location& position)
      : error(std::string(library) + ": " + std::string(call) + " returned " + std::to_string(code) + " (" +
              std::string(meaning) + ")" + (device < 0 ? "" : " on device " + std::to_string(device)) + ", called at " +
              position.file_name() + ":" + std::to_string(position.line())),
        failed_call(call),
        error_code(code),
        failed_device(device) {}

  /// The function that failed, such as "cudaMallocAsync".
  const std::string& call() const noexcept { return failed_call; }
  /// What it returned.
  int code() const noexcept { return error_code; }
  /// The device it was called for; -1 for none in particular.
  int device() const noexcept { return failed_device; }

 private:
  std::string failed_call;
  int error_code;
  int failed_device;
};

} // namespace parallax::PARALLAX_INLINE_VERSION

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A collective failed, or did not end in time; all collectives that were going on have been aborted.
class collective_error : public error {
 public:
  collective_error(const std::string& text, std::string collective, std::vector<int> arrived, std::vector<int> missing)
      : error(text),
        stuck_collective(std::move(collective)),
        arrived_devices(std::move(arrived)),
        missing_devices(std::move(missing)) {}

  /// The name of the first collective that had not ended, such as "all_reduce"; empty if all had ended.
  const std::string& collective() const noexcept { return stuck_collective; }
  /// The devices whose work had reached it.
  const std::vector<int>& arrived() const noexcept { return arrived_devices; }
  /// The devices whose work had not.
  const std::vector<int>& missing() const noexcept { return missing_devices; }

 private:
  std::string stuck_collective;
  std::vector<int> arrived_devices;
  std::vector<int> missing_devices;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
