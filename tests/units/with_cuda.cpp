// Compiled for CUDA: by nvcc, or for the simulator, on a machine of two devices.
#ifdef PARALLAX_DEVICE_API
#include "support/simulator/api.hpp"
#endif

#include "units/backends.hpp"

namespace units {

#ifdef PARALLAX_DEVICE_API
namespace {

/// Lives from before programs are called until all arrays are gone.
struct simulated_machine {
  ~simulated_machine() {
    plx::cuda::backend<simulator::api>::shut_down();
    machine.finish();
  }
  simulator::machine machine{{.devices = 2}};
};
[[gnu::init_priority(200)]] simulated_machine lives;

} // namespace
#endif

const vector early_in_cuda_file = centred(vector{{1, 2, 6}});

vector twice_in_cuda_file(const vector& x) { return x + x; }
vector centred_in_cuda_file(const vector& x) { return centred(x); }
vector own_in_cuda_file(const vector& x) { return 3.f * x - x; }
plx::array<float, 2> totals_in_cuda_file(const plx::array<float, 2>& rows) { return totals(rows); }

std::string message_in_cuda_file(plx::backend chosen, const vector& x) {
  try {
    const plx::use_backend here(chosen);
    const vector y = x + x, z = centred(y);
    static_cast<void>(z.values());
    return {};
  } catch (const plx::error& caught) {
    return caught.what();
  }
}

} // namespace units
