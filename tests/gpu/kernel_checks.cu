// Launches of kernels, and the block policy they are written against.
#include "device_array.cuh"

#include <parallax/cuda/kernels/products/strided_product.hpp>

#include <cmath>
#include <cstdint>

namespace gpu {
namespace {

using parallax::cuda::vector_of;
using parallax::cuda::warp_size;

/// y = 2 x + 1, vectors of 16 bytes and then what is left.
template <class T> struct scale_kernel {
  struct arguments {
    const T* x;
    T* y;
    std::int64_t count;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    constexpr int width = 16 / sizeof(T);
    using vector = vector_of<T, width>;
    const std::int64_t first = block.block() * block.threads() + block.thread();
    const std::int64_t step = block.blocks() * block.threads(), vectors = a.count / width;
    for (std::int64_t i = first; i < vectors; i += step) {
      vector v = block.load(reinterpret_cast<const vector*>(a.x) + i);
      for (T& value : v.values) value = static_cast<T>(2 * value + 1);
      block.store(reinterpret_cast<vector*>(a.y) + i, v);
    }
    for (std::int64_t i = vectors * width + first; i < a.count; i += step)
      block.store(a.y + i, static_cast<T>(2 * block.load(a.x + i) + 1));
  }
};

template <class T> void check_scale() {
  const queue on;
  for (std::size_t count : {1UL, 15UL, 16UL, 1000UL, 1'000'003UL}) {
    const std::vector<T> x = numbers<T>(count);
    const device_array<T> source(on, x), target(on, std::vector<T>(count + 16, T(99)));
    ok(api::launch(scale_kernel<T>{}, {100, 256, 0}, on.get(),
                   {source.data(), target.data(), static_cast<std::int64_t>(count)}));
    const std::vector<T> y = target.values();
    for (std::size_t i = 0; i < count; ++i) require(y[i] == static_cast<T>(2 * x[i] + 1), "each element is computed");
    for (std::size_t i = count; i < y.size(); ++i) require(y[i] == T(99), "nothing is written behind the end");
  }
}

struct numbered {
  double value;
  std::int32_t number;
};

/// Each block's largest value and its number: by shuffles, then through shared memory.
struct largest_kernel {
  struct arguments {
    const double* x;
    double* value;
    std::int32_t* number;
  };
  static constexpr bool barriers = true;
  static constexpr int max_threads = 1024;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    auto larger = [](numbered p, numbered q) { return q.value > p.value ? q : p; };
    const std::int64_t i = block.block() * block.threads() + block.thread();
    numbered best{block.load(a.x + i), static_cast<std::int32_t>(i)};
    for (int distance = warp_size / 2; distance > 0; distance /= 2)
      best = larger(best, block.shuffle_down(best, distance));
    auto* of_warps = reinterpret_cast<numbered*>(block.shared());
    if (block.thread() % warp_size == 0) block.store(of_warps + block.thread() / warp_size, best);
    block.barrier();
    if (block.thread() >= warp_size) return;
    best = block.load(of_warps + block.thread() % (block.threads() / warp_size));
    for (int distance = warp_size / 2; distance > 0; distance /= 2)
      best = larger(best, block.shuffle_xor(best, distance));
    if (block.thread() != 0) return;
    block.store(a.value + block.block(), best.value);
    block.store(a.number + block.block(), best.number);
  }
};

void check_cooperation() {
  const queue on;
  for (unsigned threads : {32U, 256U, 1024U}) {
    constexpr std::size_t blocks = 7;
    std::vector<double> x(blocks * threads);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((i * 7919) % 10007);
    const device_array<double> source(on, x), value(on, blocks);
    const device_array<std::int32_t> number(on, blocks);
    ok(api::launch(largest_kernel{}, {blocks, threads, threads / warp_size * sizeof(numbered)}, on.get(),
                   {source.data(), value.data(), number.data()}));
    const std::vector<double> values = value.values();
    const std::vector<std::int32_t> at = number.values();
    for (std::size_t b = 0; b < blocks; ++b) {
      double expected = 0;
      for (std::size_t i = b * threads; i < (b + 1) * threads; ++i) expected = std::max(expected, x[i]);
      require(values[b] == expected, "a block's largest value");
      require(x[static_cast<std::size_t>(at[b])] == expected, "and where it is");
    }
  }
}

/// y is x in reverse, through as much shared memory.
struct reverse_kernel {
  struct arguments {
    const float* x;
    float* y;
    int count;
  };
  static constexpr bool barriers = true;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    auto* all = reinterpret_cast<float*>(block.shared());
    for (int i = block.thread(); i < a.count; i += block.threads()) block.store(all + i, block.load(a.x + i));
    block.barrier();
    for (int i = block.thread(); i < a.count; i += block.threads())
      block.store(a.y + i, block.load(all + (a.count - 1 - i)));
  }
};

void check_shared_memory() {
  const queue on;
  parallax::cuda::device_properties properties;
  ok(api::properties_of(properties, 0));
  for (std::size_t bytes : {std::size_t{4096}, std::size_t{48 * 1024}, properties.shared_bytes_per_block}) {
    const std::vector<float> x = numbers<float>(bytes / sizeof(float));
    const device_array<float> source(on, x), target(on, x.size());
    ok(api::launch(reverse_kernel{}, {1, 512, bytes}, on.get(),
                   {source.data(), target.data(), static_cast<int>(x.size())}));
    require(target.values() == std::vector<float>(x.rbegin(), x.rend()), "shared memory of " + std::to_string(bytes));
  }
}

/// Each block writes the sum of its cluster's numbers, which it reads in their shared memory, in turns.
struct cluster_kernel {
  struct arguments {
    const float* x;
    float* y;
    int cluster;
  };
  static constexpr bool barriers = true;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    const std::int64_t at = block.block() * block.threads() + block.thread();
    float sum = block.load(a.x + at);
    for (int turn = 0; turn < 2; ++turn) {
      block.store(reinterpret_cast<float*>(block.shared()) + block.thread(), sum);
      block.cluster_barrier();
      sum = 0;
      for (int i = 0; i < a.cluster; ++i)
        sum += block.load(reinterpret_cast<const float*>(block.shared_of(i)) + block.thread());
      block.cluster_barrier();
    }
    block.store(a.y + at, sum);
  }
};

void check_clusters() {
  const queue on;
  parallax::cuda::device_properties properties;
  ok(api::properties_of(properties, 0));
  constexpr unsigned threads = 64;
  for (int cluster = 1; cluster <= properties.largest_cluster; cluster *= 2) {
    const auto size = static_cast<unsigned>(cluster);
    const parallax::cuda::launch_shape shape{4 * size, threads, 64 * 1024, size};
    int at_once = 1;
    if (cluster > 1) ok(api::clusters_at_once(at_once, cluster_kernel{}, shape));
    require(at_once > 0 || cluster > parallax::cuda::portable_cluster, "a cluster of a portable size runs");
    if (at_once == 0) continue;
    const std::vector<float> x = numbers<float>(std::size_t{4} * size * threads);
    const device_array<float> source(on, x), target(on, x.size());
    ok(api::launch(cluster_kernel{}, shape, on.get(), {source.data(), target.data(), cluster}));
    std::vector<float> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t of_cluster = std::size_t{size} * threads, first = i / of_cluster * of_cluster + i % threads;
      for (std::size_t k = 0; k < size; ++k) expected[i] += x[first + k * threads] * static_cast<float>(cluster);
    }
    const std::vector<float> found = target.values();
    for (std::size_t i = 0; i < x.size(); ++i)
      require(std::abs(found[i] - expected[i]) <= 1e-4f * (1 + std::abs(expected[i])),
              "clusters of " + std::to_string(cluster) + " blocks");
  }
}

void check_refused_launches() {
  const queue on;
  const device_array<float> x(on, std::vector<float>(32, 1.f));
  const reverse_kernel::arguments arguments{x.data(), x.data(), 32};
  require(!api::launch(reverse_kernel{}, {1, 33, 128}, on.get(), arguments).ok(), "a part of a warp cannot cooperate");
  require(!api::launch(reverse_kernel{}, {1, 2048, 128}, on.get(), arguments).ok(), "2048 threads are no block");
  require(!api::launch(reverse_kernel{}, {1, 32, 1 << 20}, on.get(), arguments).ok(), "a MiB of shared memory");
  ok(api::launch(reverse_kernel{}, {0, 32, 128}, on.get(), arguments));
  ok(api::launch(reverse_kernel{}, {1, 32, 128}, on.get(), arguments));
  require(x.values() == std::vector<float>(32, 1.f), "the device works afterwards");
}

constexpr check all[] = {{"kernels: float, 16 bytes at a time", check_scale<float>},
                         {"kernels: double, 16 bytes at a time", check_scale<double>},
                         {"kernels: uint8, 16 bytes at a time", check_scale<std::uint8_t>},
                         {"kernels: shuffles and barriers", check_cooperation},
                         {"kernels: shared memory", check_shared_memory},
                         {"kernels: clusters", check_clusters},
                         {"kernels: refused launches", check_refused_launches}};

} // namespace

std::span<const check> kernel_checks() { return all; }

} // namespace gpu
