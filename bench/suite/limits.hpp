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

/// Memory that is read, in as many streams as what is read is longer than what is written, and written.
class traffic {
 public:
  explicit traffic(work least) {
    const double shorter = least.written;
    streams_ = least.read >= 16 * shorter ? 0 : static_cast<int>(std::clamp(least.read / shorter + 0.5, 0., 3.));
    const double longest = streams_ == 0 && least.read > shorter ? least.read : shorter;
    count_ = static_cast<std::size_t>(longest) / sizeof(float_vector);
    for (std::size_t i = 0; i < 4; ++i)
      if (i == 3 || static_cast<int>(i) < std::max(streams_, 1)) memory_[i] = touched(count_);
    only_reads_ = streams_ == 0 && least.read > shorter;
    if (!only_reads_) past_caches_ = seconds(true) < seconds(false);
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
    const float_vector* from = memory_[0].get();
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
    const float_vector *a = memory_[0].get(), *b = memory_[1].get(), *c = memory_[2].get();
    float_vector* to = memory_[3].get();
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

  std::size_t count_ = 0;
  int streams_ = 0;
  bool only_reads_ = false, past_caches_ = false;
  std::array<block, 4> memory_;
};

} // namespace bench
