// Programs called on the CUDA backend of a policy, which may be the simulator's with something added.
#pragma once

#include "support/simulator/api.hpp"

#include <parallax/host/run/program_run.hpp>
#include <parallax/parallax.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace simulated {

using values = parallax::runtime::recycled_vector<parallax::runtime::runtime_value>;

template <class... Arguments> values values_of(const Arguments&... given) {
  values all;
  (parallax::runtime::append_values(all, given), ...);
  return all;
}

/// The results of a function of arguments of these types, which may lie on the device.
template <class Api, class Function, class... Arguments> values results_from(values given) {
  using compiled = parallax::detail::program<std::remove_const_t<Function>, parallax::detail::abstract_t<Arguments>...>;
  return parallax::cuda::program_run<Api>(compiled::plan, parallax::cuda::kernel_table<Api, compiled>::launchers,
                                          std::move(given))
      .run();
}

/// The results of a function of arrays and numbers.
template <class Api, class Function, class... Arguments> values results_of(const Function&, const Arguments&... given) {
  return results_from<Api, Function, Arguments...>(values_of(given...));
}

/// The same on the host backend.
template <class Function, class... Arguments> values results_on_host(const Function&, const Arguments&... given) {
  using compiled = parallax::detail::program<Function, parallax::detail::abstract_t<Arguments>...>;
  return parallax::host::program_run(compiled::plan, parallax::host::kernel_table<compiled>::functions.data(),
                                     parallax::host::registers_name, values_of(given...))
      .run();
}

/// The elements of results, all of which are floats.
inline std::vector<float> numbers_of(values results) {
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
