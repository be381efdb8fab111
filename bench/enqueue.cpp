// What the host needs to enqueue a program's steps on several GPUs: on devices that do nothing, whose calls take no
// time or the 2.3 us that a launch takes. `a x b`: a sections of b layers, which a product and a loop are, with a
// collective behind each section.
#include "support/idle_api.hpp"

#include <parallax/cuda/run/kernel_table.hpp>
#include <parallax/cuda/run/program_run.hpp>
#include <parallax/parallax.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace plx = parallax;

namespace {

using api = bench::idle_api;
using backend = plx::cuda::backend<api>;

template <int Sections, int Layers> struct layers {
  constexpr auto operator()(auto x, auto w) const {
    for (int section = 0; section < Sections; ++section) {
      for (int layer = 0; layer < Layers; ++layer) x = plx::tanh(plx::dot(x, w)) + x * static_cast<float>(layer + 1);
      x = plx::psum<"i">(x);
    }
    return x;
  }
};

template <int Sections, int Layers> void enqueue(benchmark::State& state) {
  const int devices = static_cast<int>(state.range(0));
  api::devices = devices;
  api::threads = static_cast<int>(state.range(2));
  api::enqueue_time = std::chrono::nanoseconds(state.range(1));
  plx::cuda::backend_options options;
  options.graphs = false;
  backend::restart(options);
  {
    constexpr auto program = plx::pmap<"i">(layers<Sections, Layers>{}, plx::in_axes<0, plx::none>);
    using function = std::remove_const_t<decltype(program)>;
    using compiled = plx::detail::program<function, plx::detail::abstract_t<plx::array<float, 3>>,
                                          plx::detail::abstract_t<plx::array<float, 2>>>;
    const auto x = plx::array<float, 3>::filled({devices, 32, 32}, 1.f);
    const auto w = plx::array<float, 2>::filled({32, 32}, 1.f);
    const auto call = [&] {
      plx::runtime::recycled_vector<plx::runtime::runtime_value> arguments;
      plx::runtime::append_values(arguments, x);
      plx::runtime::append_values(arguments, w);
      return plx::cuda::program_run<api>(compiled::plan, plx::cuda::kernel_table<api, compiled>::launchers,
                                         std::move(arguments))
          .run();
    };
    for (int i = 0; i < 3; ++i) call();
    for (auto _ : state) benchmark::DoNotOptimize(call());
  }
  api::enqueue_time = std::chrono::nanoseconds(0);
  backend::shut_down();
}

/// Copies from the host to a device and back, through pinned memory.
void copy(benchmark::State& state) {
  api::devices = 1;
  api::threads = static_cast<int>(state.range(0));
  backend::restart({});
  {
    const std::size_t bytes = std::size_t{256} << 20;
    std::vector<std::byte> there(bytes, std::byte{1}), back(bytes);
    auto& owner = backend::instance();
    const auto memory = plx::cuda::allocate<api>(owner.device_at(0), bytes);
    auto& on_device = *plx::cuda::allocation_of<api>(memory);
    for (auto _ : state) {
      if (state.range(1) != 0) on_device.copy_to_host(back.data(), bytes);
      else
        owner.device_at(0).host_copies.to_device(on_device.address(), there.data(), bytes, owner.threads,
                                                 owner.waiting());
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  }
  backend::shut_down();
}

void all_cases(benchmark::internal::Benchmark* cases) {
  cases->ArgNames({"devices", "call_ns", "threads"})->UseRealTime();
  for (const int call_ns : {0, 2300})
    for (const int devices : {1, 2, 8})
      for (const int threads : {1, 2, 8})
        if (threads <= devices) cases->Args({devices, call_ns, threads});
}

} // namespace

BENCHMARK(enqueue<1, 20>)->Name("1 x 20 layers")->Apply(all_cases);
BENCHMARK(enqueue<5, 4>)->Name("5 x 4 layers")->Apply(all_cases);
BENCHMARK(enqueue<1, 1>)->Name("1 x 1 layers")->Apply(all_cases);
BENCHMARK(copy)->ArgNames({"threads", "to_host"})->ArgsProduct({{1, 2}, {0, 1}})->UseRealTime();
