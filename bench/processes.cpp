// What exchanges between processes take beside MPI's own: mpirun -n 4 build/release/bench/processes [repeats]
// Each process has one device, so that both do the same. Rounds of one call are timed, and of several blocks the
// median is told, by process 0.
#include <parallax/distributed.hpp>
#include <parallax/distributed/mpi.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

namespace plx = parallax;
using clock_type = std::chrono::steady_clock;

constexpr auto sums = [](auto rows, auto rounds) {
  return plx::pmap<"i">(
      [](auto row, auto count) {
        return plx::fori_loop(0, count, [](auto, auto v) { return plx::psum<"i">(v); }, row);
      },
      plx::in_axes<0, plx::none>)(rows, rounds);
};
constexpr auto one_sum = plx::pmap<"i">([](auto row) { return plx::psum<"i">(row); });

double microseconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double, std::micro>(clock_type::now() - begin).count();
}
double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void measure(std::int64_t bytes, int blocks) {
  const std::int64_t count = bytes / 4;
  const int rounds = static_cast<int>(std::clamp<std::int64_t>((100 << 20) / (bytes + 4096), 10, 20000));
  auto x = plx::array<float, 2>::uninitialised({1, count});
  std::vector<float> plain(static_cast<std::size_t>(count)), sum(plain.size());
  for (std::int64_t i = 0; i < count; ++i) x.mutable_data()[i] = plain[static_cast<std::size_t>(i)] = 0;
  std::vector<double> ours, theirs, calls;
  for (int block = -1; block < blocks; ++block) {
    MPI_Barrier(MPI_COMM_WORLD);
    auto begin = clock_type::now();
    for (int k = 0; k < rounds; ++k)
      MPI_Allreduce(plain.data(), sum.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const double by_mpi = microseconds_since(begin) / rounds;
    static_cast<void>(plx::jit(sums)(x, plx::count(1)));
    MPI_Barrier(MPI_COMM_WORLD);
    begin = clock_type::now();
    static_cast<void>(plx::jit(sums)(x, plx::count(rounds)));
    const double by_us = microseconds_since(begin) / rounds;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = clock_type::now();
    for (int k = 0; k < rounds; ++k) static_cast<void>(one_sum(x));
    const double by_calls = microseconds_since(begin) / rounds;
    if (block < 0) continue; // memory and programs are new
    theirs.push_back(by_mpi), ours.push_back(by_us), calls.push_back(by_calls);
  }
  if (plx::distributed::process_index() == 0)
    std::printf("%9lld B: MPI_Allreduce %10.2f us, psum %10.2f us (%.2f), a call of it %10.2f us\n",
                static_cast<long long>(bytes), median(theirs), median(ours), median(ours) / median(theirs),
                median(calls));
}

} // namespace

int main(int argc, char** argv) {
  setenv("PARALLAX_HOST_DEVICES", "1", 0);
  const auto session = plx::distributed::initialize();
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 9;
  for (std::int64_t bytes : {8, 1024, 3000, 3900, 4096, 65536, 1 << 20, 8 << 20}) measure(bytes, blocks);
}
