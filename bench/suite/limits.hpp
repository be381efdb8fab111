// What this machine needs at the least for what a case has to move or compute, as plain loops that do no more.
#pragma once

#include "support/machine_limits.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace bench {

/// What has to be done at the least: bytes that are read and written, or operations of float32.
struct work {
  double read = 0, written = 0, operations = 0;
};

/// Memory that is read and written at once, in as many streams to read as that is longer; or read alone, where next to
/// nothing is written.
class traffic {
 public:
  explicit traffic(work least)
      : only_reads_(least.read >= 16 * least.written),
        streams_(only_reads_ ? 1 : static_cast<int>(std::clamp(least.read / least.written + 0.5, 0., 3.))),
        count_(static_cast<std::size_t>(only_reads_ ? least.read : least.written) / sizeof(float_vector)) {
    for (int i = 0; i < streams_; ++i) from_[static_cast<std::size_t>(i)] = touched(count_);
    if (only_reads_) return;
    to_ = touched(count_);
    past_caches_ = seconds(true) < seconds(false);
  }

  void run() const {
    if (only_reads_) read();
    else if (past_caches_) write_streams<true>();
    else write_streams<false>();
  }

 private:
  struct release {
    void operator()(float_vector* memory) const { operator delete[](memory, std::align_val_t{64}); }
  };
  using block = std::unique_ptr<float_vector[], release>;

  static block touched(std::size_t count) {
    block result(new (std::align_val_t{64}) float_vector[std::max<std::size_t>(count, 1)]);
    std::fill_n(result.get(), count, float_vector{});
    return result;
  }

  double seconds(bool past_caches) {
    past_caches_ = past_caches;
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      run();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
  }

  void read() const {
    const float_vector* from = from_[0].get();
    float_vector a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
    std::size_t i = 0;
    for (; i + 8 <= count_; i += 8) {
      a += from[i];
      b += from[i + 1];
      c += from[i + 2];
      d += from[i + 3];
      e += from[i + 4];
      f += from[i + 5];
      g += from[i + 6];
      h += from[i + 7];
    }
    for (; i < count_; ++i) a += from[i];
    a += b + c + d + e + f + g + h;
    benchmark::DoNotOptimize(a);
  }

  template <bool PastCaches> void write_streams() const {
    switch (streams_) {
    case 0: return write<PastCaches, 0>();
    case 1: return write<PastCaches, 1>();
    case 2: return write<PastCaches, 2>();
    case 3: return write<PastCaches, 3>();
    }
  }
  template <bool PastCaches, int Streams> void write() const {
    const float_vector *a = from_[0].get(), *b = from_[1].get(), *c = from_[2].get();
    float_vector* to = to_.get();
    for (std::size_t i = 0; i < count_; ++i) {
      float_vector value{};
      if constexpr (Streams >= 1) value += a[i];
      if constexpr (Streams >= 2) value += b[i];
      if constexpr (Streams >= 3) value += c[i];
      store<PastCaches>(to + i, value);
    }
    benchmark::ClobberMemory();
  }
  template <bool PastCaches> static void store(float_vector* to, float_vector value) {
#if defined(__AVX512F__)
    if constexpr (PastCaches) return _mm512_stream_ps(reinterpret_cast<float*>(to), __m512(value));
#elif defined(__AVX__)
    if constexpr (PastCaches) return _mm256_stream_ps(reinterpret_cast<float*>(to), __m256(value));
#elif defined(__SSE__)
    if constexpr (PastCaches) return _mm_stream_ps(reinterpret_cast<float*>(to), __m128(value));
#endif
    *to = value;
  }

  bool only_reads_, past_caches_ = false;
  int streams_;
  std::size_t count_; ///< registers of each stream
  std::array<block, 3> from_;
  block to_;
};

} // namespace bench
