// A fused kernel of a plain generic lambda, compiled by nvcc without --extended-lambda.
#include <parallax/cuda/kernels/launch.hpp>
#include <parallax/cuda/nvidia/device_block.cuh>
#include <parallax/host/run/program_run.hpp>
#include <parallax/parallax.hpp>

#include "support/test.hpp"

#include <cmath>
#include <vector>

namespace fused_kernel_test {

namespace plx = parallax;

namespace {

constexpr auto chain = [](auto x, auto y) { return plx::tanh(2.f * x + y) * plx::exp(-y) - x / (1 + plx::square(y)); };

using vector_argument = plx::detail::abstract_array<float, plx::extents_t<plx::dyn>>;
using chain_program =
    plx::detail::program<plx::jitted<std::remove_const_t<decltype(chain)>>, vector_argument, vector_argument>;

static_assert(plx::compiled::kernel_count<chain_program> == 1, "the chain is one kernel");

constexpr int count = 1003;

double expected(double x, double y) { return std::tanh(2 * x + y) * std::exp(-y) - x / (1 + y * y); }

plx::array<float, 1> samples(double scale) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(std::sin(i * 0.7) * scale));
  return plx::array<float, 1>({count}, values);
}

void check(const plx::array<float, 1>& x, const plx::array<float, 1>& y, const plx::array<float, 1>& z) {
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(z.values()[i] == Approx(expected(x.values()[i], y.values()[i])).epsilon(1e-5).margin(1e-6));
}

struct launches : plx::cuda::device_launches {
  using stream = cudaStream_t;
};

/// Runs a step of the program on the device, with copies of its operands, which are whole vectors.
template <class Kernel> void run_on_device(plx::compiled::kernel_arguments& a) {
  constexpr std::size_t bytes = count * sizeof(float);
  std::byte* result = a.operands[0].data;
  for (int i = 0; i < a.operand_count; ++i) {
    const std::byte* from = a.operands[i].data;
    REQUIRE(cudaMalloc(&a.operands[i].data, bytes) == cudaSuccess);
    REQUIRE(cudaMemcpy(a.operands[i].data, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  }
  plx::cuda::device_properties properties;
  plx::cuda::launch_context<launches> where{nullptr, &properties, nullptr, 0};
  plx::cuda::check(plx::cuda::launch_kernel<launches, Kernel>(a, where));
  REQUIRE(cudaMemcpy(result, a.operands[0].data, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < a.operand_count; ++i) cudaFree(a.operands[i].data);
}

} // namespace

TEST_CASE("the host backend computes the chain when nvcc compiles it") {
  auto x = samples(2), y = samples(1.5);
  check(x, y, plx::jit(chain)(x, y));
}

TEST_CASE("the chain runs as one kernel on a device", "[gpu]") {
  auto x = samples(2), y = samples(1.5);
  const plx::compiled::kernel_function kernel = &run_on_device<plx::compiled::program_kernel<chain_program, 0>::type>;
  plx::host::program_run run(chain_program::plan, &kernel, plx::host::registers_name,
                             {plx::runtime::value_of(x), plx::runtime::value_of(y)});
  check(x, y, plx::runtime::make_results<chain_program>(run.run()));
}

} // namespace fused_kernel_test
