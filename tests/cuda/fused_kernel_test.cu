// A fused kernel of a plain generic lambda, compiled by nvcc without --extended-lambda.
#include <parallax/cuda/elementwise.cuh>
#include <parallax/parallax.hpp>

#include "test.hpp"

#include <cmath>
#include <vector>

namespace plx = parallax;

namespace {

constexpr auto chain = [](auto x, auto y) { return plx::tanh(2.f * x + y) * plx::exp(-y) - x / (1 + plx::square(y)); };

using chain_program = plx::detail::program<plx::jitted<std::remove_const_t<decltype(chain)>>,
                                           plx::abstract_array<float, plx::extents_t<plx::dyn>>,
                                           plx::abstract_array<float, plx::extents_t<plx::dyn>>>;

static_assert(plx::detail::kernel_count<chain_program> == 1, "the chain is one kernel");

double expected(double x, double y) { return std::tanh(2 * x + y) * std::exp(-y) - x / (1 + y * y); }

std::vector<float> samples(int count, double scale) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(std::sin(i * 0.7) * scale));
  return values;
}

} // namespace

TEST_CASE("the host backend computes the chain when nvcc compiles it") {
  std::vector<float> x = samples(1000, 2), y = samples(1000, 1.5);
  plx::array<float, 1> z = plx::jit(chain)(plx::array<float, 1>({1000}, x), plx::array<float, 1>({1000}, y));
  for (std::size_t i = 0; i < x.size(); ++i)
    REQUIRE(z.values()[i] == Approx(expected(x[i], y[i])).epsilon(1e-5).margin(1e-6));
}

TEST_CASE("the chain runs as one kernel on a device", "[gpu]") {
  constexpr int count = 1000;
  std::vector<float> x = samples(count, 2), y = samples(count, 1.5), z(count);
  float* memory[3] = {};
  for (float*& each : memory) REQUIRE(cudaMalloc(&each, count * sizeof(float)) == cudaSuccess);
  REQUIRE(cudaMemcpy(memory[1], x.data(), count * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy(memory[2], y.data(), count * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);

  // operands and constants in the order of the program's only step
  plx::cuda::elementwise_arguments<3, 8> arguments;
  const auto& table = chain_program::table;
  plx::detail::table_reader r(table.data() + table[static_cast<std::size_t>(table[plx::detail::blocks_at] + 1)]);
  r.skip(r.next());
  r.skip(3);
  std::int64_t buffers = r.next();
  const std::int64_t* records = r.skip(4 * buffers);
  for (std::int64_t outputs = r.next(); outputs > 0; --outputs) {
    r.skip(3);
    r.skip(r.next());
    r.skip(2 * r.next());
  }
  REQUIRE(r.next() == 1); // steps
  r.skip(3);              // kind, kernel, reduced dimensions
  r.skip(r.next());
  arguments.rank = 1;
  arguments.count = arguments.extents[0] = count;
  std::int64_t operands = r.next();
  REQUIRE(operands == 3);
  for (std::int64_t i = 0; i < operands; ++i) {
    std::int64_t buffer = r.next();
    r.skip(2);
    bool is_value = records[4 * buffer] == static_cast<std::int64_t>(plx::detail::buffer_place::value);
    arguments.operands[i].data = reinterpret_cast<std::byte*>(memory[is_value ? 1 + records[4 * buffer + 1] : 0]);
    arguments.operands[i].strides[0] = 1;
  }
  std::int64_t constants = r.next();
  REQUIRE(constants <= 8);
  for (std::int64_t i = 0; i < constants; ++i) {
    r.skip(2);
    float value = static_cast<float>(std::bit_cast<double>(r.next()));
    std::memcpy(&arguments.constants[i], &value, sizeof value);
  }
  REQUIRE(plx::cuda::launch_elementwise(plx::detail::program_kernel<chain_program, 0>::type{}, arguments, nullptr) ==
          cudaSuccess);
  REQUIRE(cudaMemcpy(z.data(), memory[0], count * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(z[i] == Approx(expected(x[i], y[i])).epsilon(1e-5).margin(1e-6));
  for (float* each : memory) cudaFree(each);
}
