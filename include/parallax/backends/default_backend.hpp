// The choice of where programs run: on the host's virtual devices, or on CUDA devices.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/backends/cuda_dispatch.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The kinds of devices that execute programs.
enum class backend { host, cuda };

/// Whether this process has the CUDA backend: whether nvcc compiled any of its files.
inline bool has_cuda_backend() { return detail::cuda_backend_of_process.load(std::memory_order_acquire) != nullptr; }

namespace detail {

/// A backend, and whether it was chosen: programs run on a chosen one or not at all.
struct backend_choice {
  backend which = backend::host;
  bool is_chosen = false;
};

/// The choice of `use_backend` in this thread.
inline thread_local backend_choice chosen_in_thread;

/// The backend of this thread's programs. Throws `error`.
PARALLAX_RUNTIME_FUNCTION backend_choice current_backend();

#if PARALLAX_DEFINES_RUNTIME
/// The backend that the environment variable PARALLAX_BACKEND names, "host" or "cuda", if it is set. Throws `error` for
/// any other name.
inline std::optional<backend> backend_from_environment() {
  const char* text = std::getenv("PARALLAX_BACKEND");
  if (text == nullptr) return std::nullopt;
  const std::string_view name = text;
  if (name == "host") return backend::host;
  if (name == "cuda") return backend::cuda;
  throw error("PARALLAX_BACKEND must be 'host' or 'cuda', but it is '" + std::string(name) + "'");
}

/// Asked only once, when there is a CUDA backend.
inline bool has_cuda_devices() {
  const cuda_backend_functions* cuda = cuda_backend_of_process.load(std::memory_order_acquire);
  if (cuda == nullptr) return false;
  static const bool found = cuda->has_devices();
  return found;
}

PARALLAX_RUNTIME_FUNCTION backend_choice current_backend() {
  if (chosen_in_thread.is_chosen) return chosen_in_thread;
  static const std::optional<backend> named = backend_from_environment();
  if (!named) return {has_cuda_devices() ? backend::cuda : backend::host, false};
  if (*named == backend::cuda && !has_cuda_backend())
    throw error("PARALLAX_BACKEND is 'cuda', but this program was compiled without the CUDA backend");
  return {*named, true};
}
#endif

} // namespace detail

/// The backend of this thread's programs: the choice of `use_backend`, else that of PARALLAX_BACKEND, else CUDA devices
/// if there are any. In the last case programs that no .cu file calls run on the host, since nvcc has to compile code
/// for a GPU; if CUDA was chosen, they are an `error`. JAX: default_backend. Throws `error`.
inline backend default_backend() { return detail::current_backend().which; }

/// Runs this thread's programs on a backend as long as the object lives. JAX: default_device. Throws `error` if the
/// process has no such backend.
class use_backend {
 public:
  explicit use_backend(backend which) : before(detail::chosen_in_thread) {
    if (which == backend::cuda && !has_cuda_backend())
      throw error("use_backend: this program was compiled without the CUDA backend");
    detail::chosen_in_thread = {which, true};
  }
  use_backend(const use_backend&) = delete;
  use_backend& operator=(const use_backend&) = delete;
  ~use_backend() { detail::chosen_in_thread = before; }

 private:
  detail::backend_choice before;
};

} // namespace parallax::PARALLAX_INLINE_VERSION
