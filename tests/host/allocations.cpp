// Counts what calls that are repeated allocate, and the locks that they take. The exit status is 0 where each allocates
// what it may, and what runs in one thread takes no lock.
#include <parallax/parallax.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string_view>
#include <tuple>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>

namespace {

namespace plx = parallax;

std::atomic<std::int64_t> allocated{0};
thread_local std::int64_t locked = 0; // by the thread that calls: others go to sleep when they like

void* allocate(std::size_t bytes, std::size_t alignment) {
  allocated.fetch_add(1);
  if (void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)) return memory;
  throw std::bad_alloc();
}

/// Whether code is the BLAS library's, which on some processors locks memory of its own for each product.
bool is_of_blas(const void* code) {
  Dl_info found{};
  return dladdr(code, &found) != 0 && found.dli_fname != nullptr &&
         std::string_view(found.dli_fname).find("blas") != std::string_view::npos;
}

} // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static const auto next = reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  if (!is_of_blas(__builtin_return_address(0))) ++locked;
  return next(mutex);
}

// What does not throw calls these.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

bool all_right = true;

/// Calls `f` often, and says where the last of the calls allocate another number of times than each may, or where any
/// of them takes a lock.
template <class F> void check(std::string_view what, const F& f, int each = 0, bool has_threads = false) {
  constexpr int first_calls = 20, more_calls = 100;
  for (int i = 0; i < first_calls; ++i) f();
  const std::int64_t before = allocated.load(), locks_before = locked;
  for (int i = 0; i < more_calls; ++i) f();
  const std::int64_t count = allocated.load() - before, locks = locked - locks_before;
  if (count == each * more_calls && (has_threads || locks == 0)) return;
  std::cout << what << ": " << count << " allocations and " << locks << " locks in " << more_calls << " calls\n";
  all_right = false;
}
/// The same of calls that run on several threads, which wait for one another.
template <class F> void check_threads(std::string_view what, const F& f) { check(what, f, 0, true); }

constexpr auto plus_one = [](auto x) { return x + 1.f; };
constexpr auto layer = [](auto w, auto b, auto x) { return plx::sum(plx::tanh(plx::dot(x, w) + b)); };
constexpr auto softmax = [](auto x) { return plx::softmax(x, 1); };
constexpr auto several = [](auto tree) {
  auto [a, b] = tree;
  return std::tuple{a + b, a * b, plx::sum(a)};
};
constexpr auto columns = [](auto x) { return plx::sum(x, 0); };
constexpr auto shares = [](auto x) { return x / plx::psum<"i">(x); };

} // namespace

int main() {
  const plx::array<float, 0> scalar(1.f);
  const auto line = plx::array<float, 1>::filled({100}, 1);
  const auto matrix = plx::array<float, 2>::filled({32, 32}, 0.5f);
  const auto bias = plx::array<float, 1>::filled({32}, 1);
  const auto small = plx::array<float, plx::extents<4, 4>>::filled({4, 4}, 0.5f);
  const auto two = plx::array<float, 2>::filled({2, 100}, 1);
  check("a scalar", [&] { return plx::jit(plus_one)(scalar).item(); });
  check("a dynamic array", [&] { return plx::jit(plus_one)(line)(0); });
  check("a small product", [&] { return plx::jit([](auto a, auto b) { return plx::dot(a, b); })(small, small)(0, 0); });
  check("an expression", [&] { return plx::array<float, 1>(line * 2.f + line)(0); });
  check("a gradient",
        [&] { return std::get<0>(plx::jit(plx::grad(layer, plx::argnums<0, 1>))(matrix, bias, matrix)); });
  check("softmax", [&] { return plx::jit(softmax)(matrix)(0, 0); });
  const plx::array<std::int32_t, 1> places{3, 1, 2};
  check("three dynamic arrays",
        [&] { return plx::jit([](auto x, auto y, auto z) { return x * y + z; })(line, line, line)(0); });
  check("a loop", [&] {
    return plx::jit([](auto x) { return plx::fori_loop(0, 5, [](auto, auto y) { return y * 1.5f; }, x); })(line)(0);
  });
  check("a sort", [&] { return plx::jit([](auto x) { return plx::sort(x); })(line)(0); });
  check("elements by their numbers",
        [&] { return plx::jit([](auto x, auto i) { return plx::take(x, i); })(line, places)(0); });
  check("column sums", [&] { return plx::jit(columns)(matrix)(0); });
  check("trees", [&] { return std::get<2>(plx::jit(several)(std::tuple{line, line})).item(); });
  const auto spread = plx::pmap(plus_one)(two);
  check_threads("a pmap", [&] { return plx::pmap(plus_one)(spread).size(); });
  check_threads("a pmap of a host array", [&] { return plx::pmap(plus_one)(two).size(); });
  check_threads("a pmap with a collective", [&] { return plx::pmap<"i">(shares)(spread).size(); });
  std::vector<float> lent(1024, 0.5f), out(1024), sums(32);
  float few[16]{};
  check("borrowed memory", [&] { return plx::jit(plus_one)(plx::borrow(lent, {32, 32}))(0, 0); });
  check("borrowed memory and results in others'", [&] { plx::jit(plus_one)(plx::borrow(lent), plx::into(out)); });
  check("the same of static extents",
        [&] { plx::jit(plus_one)(plx::borrow<plx::extents<4, 4>>(lent.data()), plx::into(few)); });
  check("the same with several steps", [&] { plx::jit(softmax)(plx::borrow(lent, {32, 32}), plx::into(out)); });
  check("the same of an expression", [&] { plx::evaluate(plx::borrow(lent) * 2.f, plx::into(out)); });
  check_threads("the same of a pmap", [&] { plx::pmap(plus_one)(plx::borrow(lent, {2, 512}), plx::into(out)); });
  check("elements with strides", [&] { plx::jit(columns)(plx::borrow(lent, {16, 32}, {40, 1}), plx::into(sums)); });
  check("column sums of borrowed memory", [&] { plx::jit(columns)(plx::borrow(lent, {32, 32}), plx::into(sums)); });
  check("a vector that becomes an array", [] { return plx::array<float, 1>({1024}, std::vector<float>(1024))(0); }, 1);
  const std::int64_t before = locked;
  plx::pmap(plus_one)(two);
  if (locked == before) {
    std::cout << "no lock was counted, not even of a team\n";
    all_right = false;
  }
  return all_right ? 0 : 1;
}
