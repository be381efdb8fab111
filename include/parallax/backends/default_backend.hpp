// Where programs run: on the host's virtual devices, or on CUDA devices.
#pragma once

#include <parallax/backends/cuda_dispatch.hpp>
#include <parallax/runtime/errors.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

namespace parallax {

/// What executes programs.
enum class backend { host, cuda };

/// Whether this translation unit was compiled with a CUDA backend.
inline constexpr bool has_cuda_backend = PARALLAX_CUDA_BACKEND != 0;

namespace detail {

/// The backend that the environment variable PARALLAX_BACKEND names, "host" or "cuda". Where it is not set, CUDA if
/// this was compiled for it and there is a device. Throws `error` for any other name.
inline backend backend_from_environment() {
  const char* text = std::getenv("PARALLAX_BACKEND");
  if (text == nullptr) return has_cuda_devices() ? backend::cuda : backend::host;
  const std::string_view name = text;
  if (name == "host") return backend::host;
  if (name != "cuda") throw error("PARALLAX_BACKEND must be 'host' or 'cuda', but it is '" + std::string(name) + "'");
  if (!has_cuda_backend)
    throw error("PARALLAX_BACKEND is 'cuda', but this program was compiled without the CUDA backend");
  return backend::cuda;
}

/// What `use_backend` chose in this thread.
struct chosen_backend {
  bool is_chosen = false;
  backend which = backend::host;
};
inline thread_local chosen_backend chosen_in_thread;

} // namespace detail

/// Where this thread's programs run: where `use_backend` says, else where PARALLAX_BACKEND says, else on CUDA devices
/// if there are any. JAX: default_backend. Throws `error`.
inline backend default_backend() {
  if (detail::chosen_in_thread.is_chosen) return detail::chosen_in_thread.which;
  static const backend found = detail::backend_from_environment();
  return found;
}

/// Runs this thread's programs on a backend as long as the object lives. JAX: default_device. Throws `error` where the
/// program was compiled without it.
class use_backend {
 public:
  explicit use_backend(backend which) : before(detail::chosen_in_thread) {
    if (which == backend::cuda && !has_cuda_backend)
      throw error("use_backend: this program was compiled without the CUDA backend");
    detail::chosen_in_thread = {true, which};
  }
  use_backend(const use_backend&) = delete;
  use_backend& operator=(const use_backend&) = delete;
  ~use_backend() { detail::chosen_in_thread = before; }

 private:
  detail::chosen_backend before;
};

} // namespace parallax
