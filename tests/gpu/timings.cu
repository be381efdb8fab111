// Measures what the device libraries give the backend: copy bandwidth, a chain of elementwise operations written by
// hand against the block policy, matrix products next to cuBLAS, and launches.
#include "device_array.cuh"
#include "timing.hpp"

#include <parallax/core/scalar_math.hpp>

#include <cublas_v2.h>

#include <algorithm>
#include <cstdint>

namespace gpu {
namespace {

using parallax::cuda::matrix_product;
using parallax::cuda::product_precision;
using parallax::cuda::vector_of;

void runtime(cudaError_t code, const std::source_location& where = std::source_location::current()) {
  require(code == cudaSuccess, cudaGetErrorString(code), where);
}

/// Time on the device between two points of a stream.
class stopwatch {
 public:
  explicit stopwatch(const queue& on) : on_(on) {
    runtime(cudaEventCreate(&begin_));
    runtime(cudaEventCreate(&end_));
  }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  ~stopwatch() {
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }

  /// Seconds of `work`, which enqueues: the median of several samples of as many runs as take 10 ms.
  template <class Work> double seconds(Work work) {
    sample(work, 3);
    const double once = sample(work, 1);
    const int runs = static_cast<int>(std::clamp(0.01 / once, 1.0, 1000.0));
    std::vector<double> samples;
    for (int i = 0; i < 9; ++i) samples.push_back(sample(work, runs));
    std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
    return samples[4];
  }

 private:
  template <class Work> double sample(Work& work, int runs) {
    runtime(cudaEventRecord(begin_, on_.get()));
    for (int i = 0; i < runs; ++i) work();
    runtime(cudaEventRecord(end_, on_.get()));
    runtime(cudaEventSynchronize(end_));
    float milliseconds = 0;
    runtime(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return std::max(double(milliseconds) * 1e-3 / runs, 1e-9);
  }
  const queue& on_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// Different numbers between -1 and 1: zeros would be multiplied faster.
struct fill_kernel {
  struct arguments {
    float* x;
    std::int64_t count;
    std::uint32_t seed;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    const std::int64_t step = block.blocks() * block.threads();
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < a.count; i += step) {
      std::uint32_t bits = (static_cast<std::uint32_t>(i) ^ a.seed) * 2654435761U;
      bits = (bits ^ bits >> 15) * 2246822519U;
      block.store(a.x + i, static_cast<float>(bits >> 8) * 0x1p-23f - 1.f);
    }
  }
};

void fill(const queue& on, const device_array<float>& x, std::uint32_t seed) {
  ok(api::launch(fill_kernel{}, {4096, 256, 0}, on.get(), {x.data(), static_cast<std::int64_t>(x.size()), seed}));
}

/// z = tanh(2 x + y) * exp(-y) - x / (1 + y y): 12 bytes for each element.
struct chain_kernel {
  struct arguments {
    const float* x;
    const float* y;
    float* z;
    std::int64_t vectors;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    using vector = vector_of<float, 4>;
    const std::int64_t step = block.blocks() * block.threads();
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < a.vectors; i += step) {
      const vector x = block.load(reinterpret_cast<const vector*>(a.x) + i);
      const vector y = block.load(reinterpret_cast<const vector*>(a.y) + i);
      vector z;
      for (int k = 0; k < 4; ++k) {
        const float p = x.values[k], q = y.values[k];
        z.values[k] = parallax::math::tanh(2.f * p + q) * parallax::math::exp(-q) - p / (1.f + q * q);
      }
      block.store(reinterpret_cast<vector*>(a.z) + i, z);
    }
  }
};

void measure_bandwidth(std::vector<timing>& report) {
  const queue on;
  stopwatch watch(on);
  parallax::cuda::device_properties properties;
  ok(api::properties_of(properties, 0));
  const std::size_t count = std::size_t{1} << 26; // 256 MiB: far more than caches hold
  const device_array<float> x(on, count), y(on, count), z(on, count);
  fill(on, x, 1), fill(on, y, 2);
  const double bytes = double(count) * sizeof(float);
  const double copy = 2 * bytes / watch.seconds([&] {
    ok(api::copy_between(z.data(), 0, x.data(), 0, x.size() * 4, on.get()));
  }) * 1e-9;
  report.push_back({"copy of 256 MiB", copy, "GB/s", 0, ""});
  double best = 0;
  for (int blocks_each : {4, 8, 16, 32}) {
    const auto blocks = static_cast<unsigned>(properties.multiprocessors * blocks_each);
    best = std::max(best, 3 * bytes / watch.seconds([&] {
      ok(api::launch(chain_kernel{}, {blocks, 256, 0}, on.get(),
                     {x.data(), y.data(), z.data(), static_cast<std::int64_t>(count / 4)}));
    }) * 1e-9);
  }
  report.push_back({"chain of elementwise operations", best, "GB/s", copy, "copy"});
}

void measure_products(std::vector<timing>& report) {
  const queue on;
  stopwatch watch(on);
  cublasHandle_t blas = nullptr;
  require(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  require(cublasSetStream(blas, on.get()) == CUBLAS_STATUS_SUCCESS, "cublasSetStream");
  const device_array<std::byte> workspace(on, api::product_workspace_bytes);
  for (int n = 512; n <= 8192; n *= 2) {
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const device_array<float> left(on, elements), right(on, elements), result(on, elements);
    fill(on, left, 3), fill(on, right, 4);
    for (product_precision precision : {product_precision::full, product_precision::tensor_float_32}) {
      const bool full = precision == product_precision::full;
      matrix_product p;
      p.precision = precision;
      p.rows = p.columns = p.depth = p.left_row = p.right_depth = n;
      p.left = left.data(), p.right = right.data(), p.result = result.data(), p.workspace = workspace.data();
      const float one = 1, zero = 0;
      const double operations = 2.0 * n * n * n * 1e-12;
      const double ours = operations / watch.seconds([&] { ok(api::multiply(p, 0, on.get())); });
      const double theirs = operations / watch.seconds([&] {
        require(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, right.data(), CUDA_R_32F, n, left.data(),
                             CUDA_R_32F, n, &zero, result.data(), CUDA_R_32F, n,
                             full ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32,
                             CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS,
                "cublasGemmEx");
      });
      report.push_back({std::string(full ? "f32" : "TF32") + " product of size " + std::to_string(n), ours, "TFLOP/s",
                        theirs, "cublasGemmEx"});
    }
  }
  require(cublasDestroy(blas) == CUBLAS_STATUS_SUCCESS, "cublasDestroy");
}

/// Microseconds of the host for one of many calls.
template <class Work> double host_microseconds(const queue& on, Work work) {
  std::vector<double> samples;
  for (int i = 0; i < 9; ++i) {
    constexpr int runs = 500; // fewer than a stream holds, so that no call waits for the device
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < runs; ++k) work();
    samples.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
                      runs);
    on.wait();
  }
  std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
  return samples[4];
}

void measure_launches(std::vector<timing>& report) {
  const queue on;
  stopwatch watch(on);
  const device_array<float> x(on, std::size_t{32});
  auto launch = [&] { fill(on, x, 1); };
  auto tiny = [&] { ok(api::launch(fill_kernel{}, {1, 32, 0}, on.get(), {x.data(), 32, 1})); };
  launch();
  report.push_back({"launch of a kernel, host", host_microseconds(on, tiny), "us", 0, ""});
  report.push_back({"launch of a kernel, device", watch.seconds(tiny) * 1e6, "us", 0, ""});
  for (int kernels : {1, 100}) {
    api::graph recorded;
    api::graph_node first{};
    ok(api::begin_capture(on.get()));
    tiny();
    ok(api::last_captured(on.get(), first));
    for (int i = 1; i < kernels; ++i) tiny();
    ok(api::end_capture(on.get(), recorded));
    ok(api::instantiate(recorded));
    auto replay = [&] { ok(api::launch_graph(recorded, on.get())); };
    const std::string name = "graph of " + std::to_string(kernels) + (kernels > 1 ? " kernels" : " kernel");
    report.push_back({name + ", host", host_microseconds(on, replay), "us", 0, ""});
    report.push_back({name + ", device", watch.seconds(replay) * 1e6, "us", 0, ""});
    auto replay_updated = [&] {
      ok(api::update_launch(recorded, first, fill_kernel{}, {1, 32, 0}, {x.data(), 32, 1}));
      replay();
    };
    report.push_back({name + " with an update, host", host_microseconds(on, replay_updated), "us", 0, ""});
    on.wait();
    ok(api::destroy_graph(recorded));
  }
}

} // namespace

std::vector<timing> measure() {
  std::vector<timing> report;
  measure_bandwidth(report);
  measure_products(report);
  measure_launches(report);
  return report;
}

} // namespace gpu
