// Programs called on the CUDA backend of a policy, which may be the simulator's with something added.
#pragma once

#include "simulator/api.hpp"

#include <parallax/parallax.hpp>

#include <utility>
#include <vector>

namespace simulated {

/// The results of a function of arrays and numbers.
template <class Api, class Function, class... Arguments>
std::vector<parallax::detail::runtime_value> results_of(const Function&, const Arguments&... given) {
  using compiled = parallax::detail::program<Function, parallax::detail::abstract_t<Arguments>...>;
  std::vector<parallax::detail::runtime_value> arguments;
  (parallax::detail::append_values(arguments, given), ...);
  return parallax::cuda::program_run<Api>(compiled::table.data(),
                                          parallax::cuda::kernel_table<Api, compiled>::functions.data(),
                                          std::move(arguments))
      .run();
}

/// The elements of results, all of which are floats.
inline std::vector<float> numbers_of(std::vector<parallax::detail::runtime_value> results) {
  std::vector<float> all;
  for (auto& result : results) {
    const auto* first = reinterpret_cast<const float*>(result.host_data());
    all.insert(all.end(), first, first + result.count());
  }
  return all;
}

/// The backend on the machine that lives, as long as this does.
template <class Api> struct running_backend {
  explicit running_backend(const parallax::cuda::backend_options& options = {}) {
    parallax::cuda::backend<Api>::restart(options);
  }
  running_backend(const running_backend&) = delete;
  running_backend& operator=(const running_backend&) = delete;
  ~running_backend() {
    try {
      parallax::cuda::backend<Api>::shut_down();
    } catch (const parallax::error&) { // has been thrown before
    }
  }
};

} // namespace simulated
