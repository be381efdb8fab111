// Lets each allocation of some programs fail in turn. The exit status is 0 where they worked all the same, or threw
// what the library throws.
#include <parallax/parallax.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>

namespace {

namespace plx = parallax;

constexpr auto shares = [](auto x) { return x / plx::psum<"i">(x); };
constexpr auto scaled = [](auto x) { return plx::sum(plx::exp(x * 2.f)); };
constexpr auto squared = [](auto x) { return plx::dot(x, x); };

/// Whether a pmap over all devices, a loop over all threads, and a product of 16 bits give what they should.
bool programs_work() {
  const std::int64_t devices = plx::device_count();
  const plx::array<float, 1> y = plx::pmap<"i">(shares)(plx::array<float, 1>::filled({devices}, 2));
  const plx::array<float, 0> z = plx::jit(scaled)(plx::array<float, 1>::filled({1 << 18}, 0));
  const plx::array<plx::float16, 2> w = plx::jit(squared)(plx::array<plx::float16, 2>::filled({64, 64}, 1));
  return y(-1) == 1.f / static_cast<float>(devices) && z.item() == 1 << 18 && w(-1, -1) == 64;
}

/// Which allocation by `new` fails from now on, counted from 1; none where it is not positive.
std::atomic<std::int64_t> failing_allocation{0};

bool fails() { return failing_allocation.load() > 0 && failing_allocation.fetch_sub(1) == 1; }
void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fails()) throw std::bad_alloc();
  if (void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)) return memory;
  throw std::bad_alloc();
}
/// Blocks of memory are asked for once more, when the cache is empty, which is to fail too.
std::atomic<bool> fails_again{false};

} // namespace

// What does not throw calls these, but for the one below.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (fails_again.exchange(false)) return nullptr;
  if (fails()) {
    fails_again = true;
    return nullptr;
  }
  return std::aligned_alloc(static_cast<std::size_t>(alignment), bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

int main() {
  int errors = 0;
  for (std::int64_t k = 1;; ++k) {
    plx::release_cached_memory();
    failing_allocation = k;
    fails_again = false;
    bool right = true;
    try {
      right = programs_work();
    } catch (const plx::error&) {
      ++errors;
    }
    const bool has_failed = failing_allocation.exchange(0) <= 0;
    if (!right) {
      std::cerr << "a wrong result after the failure of allocation " << k << '\n';
      return 1;
    }
    if (!has_failed) break;
  }
  std::cout << errors << " errors\n";
  return errors > 10 && programs_work() ? 0 : 1;
}
