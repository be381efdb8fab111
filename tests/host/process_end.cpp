// Ends or forks a process, or takes threads and memory from it, in the way that its argument names, while the library
// is at work. The exit status is 0 where the library did what it should: see CMakeLists.txt.
#include <parallax/parallax.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

namespace plx = parallax;

constexpr auto shares = [](auto x) { return x / plx::psum<"i">(x); };
constexpr auto scaled = [](auto x) { return plx::sum(plx::exp(x * 2.f)); };
constexpr auto squared = [](auto x) { return plx::dot(x, x); };

/// Whether a pmap over all devices, a loop over all threads, and a product give what they should.
bool pmap_works() {
  plx::array<float, 1> x = plx::array<float, 1>::filled({plx::device_count()}, 2);
  plx::array<float, 1> y = plx::pmap<"i">(shares)(x);
  return y(-1) == 1.f / static_cast<float>(plx::device_count());
}
bool loop_works() {
  plx::array<float, 0> y = plx::jit(scaled)(plx::array<float, 1>::filled({1 << 18}, 0));
  return y.item() == 1 << 18;
}
bool product_works(std::int64_t size) {
  plx::array<float, 2> y = plx::jit(squared)(plx::array<float, 2>::filled({size, size}, 1));
  return y(-1, -1) == static_cast<float>(size);
}
bool large_product_works() { return product_works(256); }
bool all_works() { return pmap_works() && loop_works() && large_product_works(); }

/// Ends the process at once: well where `right`.
void end(bool right) { std::_Exit(right ? 0 : 2); }

/// Calls the function for ever, in a thread of its own; returns after its first call.
template <class F> void keep_calling(F f) {
  static std::atomic<int> begun{0};
  const int before = begun.load();
  std::thread([f] {
    if (!f()) end(false);
    ++begun;
    while (true)
      if (!f()) end(false);
  }).detach();
  while (begun.load() == before) std::this_thread::yield();
}

/// Whether `f`, called while the system gives no threads, throws an error that names the setting, and works afterwards.
template <class F> bool says_why_without_threads(F f, std::string_view setting) {
  pthread_attr_t usual, impossible;
  ::pthread_getattr_default_np(&usual);
  ::pthread_attr_init(&impossible);
  ::pthread_attr_setstacksize(&impossible, std::size_t{1} << 47); // more than a process can address
  ::pthread_setattr_default_np(&impossible);
  std::string said;
  try {
    f();
  } catch (const plx::error& e) {
    said = e.what();
  }
  ::pthread_setattr_default_np(&usual);
  std::cerr << said << '\n';
  return said.find("refuses") != said.npos && said.find(setting) != said.npos && f();
}

struct works_at_its_end {
  ~works_at_its_end() { end(all_works()); }
};

/// Forks; the child calls the function and exits. Returns whether the child ended well.
template <class F> bool works_in_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) std::exit(f() ? 0 : 2);
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

int say_unknown(std::string_view way) {
  std::cerr << "process_end: there is no way '" << way << "'\n";
  return 3;
}

/// Ends by handlers and by objects that end, which use the library.
int run_at_the_end(std::string_view way) {
  if (way == "exit handler") {
    std::atexit([] { end(all_works()); });
    return all_works() ? 1 : 2; // the handler ends the process with another status
  }
  if (way == "later exit handler") {
    if (!all_works()) return 2;
    std::atexit([] { end(all_works()); });
    return 1;
  }
  if (way == "first use in an exit handler") {
    std::atexit([] { end(all_works()); });
    return 1;
  }
  if (way == "static object") {
    static works_at_its_end last;
    return all_works() ? 1 : 2;
  }
  if (way == "object of the thread") {
    thread_local works_at_its_end last;
    return all_works() ? 1 : 2;
  }
  return say_unknown(way);
}

/// Ends while other threads use the library.
int run_beside_others(std::string_view way) {
  if (way == "exit beside pmap") {
    keep_calling(pmap_works);
    std::exit(0);
  }
  if (way == "return beside pmap") {
    keep_calling(pmap_works);
    return 0;
  }
  if (way == "return beside loops") {
    keep_calling(loop_works);
    keep_calling(loop_works);
    return 0;
  }
  if (way == "exit beside products") {
    keep_calling(large_product_works);
    std::exit(0);
  }
  return say_unknown(way);
}

int run_forking(std::string_view way) {
  if (way == "fork") return all_works() && works_in_child(all_works) && all_works() ? 0 : 2;
  if (way == "fork in a child") {
    const auto forks_again = [] { return all_works() && works_in_child(all_works); };
    return all_works() && works_in_child(forks_again) ? 0 : 2;
  }
  if (way == "fork beside others") {
    keep_calling(pmap_works);
    keep_calling(loop_works);
    keep_calling([] { return product_works(5); });
    for (int i = 0; i < 5; ++i)
      if (!works_in_child(all_works)) return 2;
    return 0;
  }
  if (way == "fork beside arrays") {
    for (int i = 0; i < 2; ++i) keep_calling([] { return plx::detail::buffer::allocate(100).bytes() == 100; });
    for (int i = 0; i < 20; ++i)
      if (!works_in_child([] { return plx::detail::buffer::allocate(100).bytes() == 100; })) return 2;
    return 0;
  }
  return say_unknown(way);
}

int run(std::string_view way) {
  if (way.starts_with("fork")) return run_forking(way);
  if (way.starts_with("exit beside") || way.starts_with("return beside")) return run_beside_others(way);
  if (way == "no thread for a device") return says_why_without_threads(pmap_works, "PARALLAX_HOST_DEVICES") ? 0 : 2;
  if (way == "no thread for a loop") return says_why_without_threads(loop_works, "PARALLAX_HOST_THREADS") ? 0 : 2;
  return run_at_the_end(way);
}

} // namespace

int main(int argument_count, char* arguments[]) { return argument_count == 2 ? run(arguments[1]) : 3; }
