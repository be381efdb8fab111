// A process that fails at one of many exchanges, in one of several ways; what the others see is printed.
// Usage: failing (throw | exit | kill | sleep | abort) <process> <exchange>
#include "on_devices.hpp"

#include <parallax/distributed/mpi.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

namespace plx = parallax;

plx::array<float, 2> rows(std::int64_t width) {
  auto x = plx::array<float, 2>::uninitialised({plx::distributed::local_device_count(), width});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = 1;
  return x;
}

/// What processes do together, one after another.
std::vector<std::function<void()>> exchanges() {
  const auto run = [](auto f, std::int64_t width) {
    return [f, width] {
      const plx::array y = plx::pmap<"i">(f)(rows(width));
      static_cast<void>(y.data()); // devices may go on until then
    };
  };
  const std::int64_t all = plx::distributed::device_count();
  return {
      run([](auto v) { return plx::psum<"i">(v); }, 3),
      run([](auto v) { return plx::psum<"i">(v); }, process_tests::are_devices_simulated() ? 3000 : 100000),
      run([](auto v) { return plx::pmax<"i">(v); }, 3),
      run([](auto v) { return plx::all_gather<"i">(v); }, 3),
      run([](auto v) { return plx::psum_scatter<"i">(v, 0); }, all),
      run([](auto v) { return plx::all_to_all<"i">(v, 0, 0); }, all),
      run([](auto v) { return plx::ppermute<"i">(v, plx::rotate{2}) + plx::ppermute<"i">(v, plx::rotate{-2}); }, 3),
      run([](auto v) { return plx::pbroadcast<"i">(v, 0); }, 3),
      [] { plx::distributed::barrier("there"); },
      [] { static_cast<void>(plx::distributed::gather(1.f)); },
  };
}

[[noreturn]] void fail(const std::string& way) {
  std::fflush(stdout);
  if (way == "throw") throw std::runtime_error("this was planned");
  if (way == "exit") _exit(3);
  if (way == "kill") std::raise(SIGKILL);
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

int run(const std::string& way, int process, int last) {
  int me = -1;
  auto begin = std::chrono::steady_clock::now();
  try {
    const auto session =
        plx::distributed::initialize({.then = way == "abort" ? plx::at_deadline::abort : plx::at_deadline::throws});
    me = plx::distributed::process_index();
    const auto all = exchanges();
    for (const auto& each : all) each(); // so that programs are agreed on
    for (int k = 0; k < static_cast<int>(all.size()); ++k) {
      begin = std::chrono::steady_clock::now();
      if (k == last && me == process) fail(way);
      all[static_cast<std::size_t>(k)]();
    }
    std::printf("process %d: nothing failed\n", me);
  } catch (const std::exception& e) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("process %d: after %.2f s: %s\n", me, seconds, e.what());
    std::fflush(stdout);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return process_tests::on_devices([&] { return run(argv[1], std::atoi(argv[2]), std::atoi(argv[3])); });
}
