// Steps of a shallow sea in several processes, beside the same by hand with MPI:
// mpirun -n 2 build/release/bench/shallow_water [rows columns steps]
#include "shallow_water.hpp"

#include <parallax/distributed.hpp>
#include <parallax/distributed/mpi.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace plx = parallax;

namespace {

double seconds_of(const auto& body) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  body();
  MPI_Barrier(MPI_COMM_WORLD);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

int main(int argc, char** argv) {
  setenv("PARALLAX_HOST_DEVICES", "1", 0);
  const auto session = plx::distributed::initialize();
  const std::int64_t all_rows = argc > 1 ? std::atoll(argv[1]) : 1800, columns = argc > 2 ? std::atoll(argv[2]) : 3600;
  const int steps = argc > 3 ? std::atoi(argv[3]) : 50;
  const int me = plx::distributed::process_index(), processes = plx::distributed::process_count();
  const std::int64_t devices = plx::distributed::local_device_count(), own = all_rows / processes;
  const std::int64_t rows = own / devices;
  if (rows * devices * processes != all_rows) {
    std::fprintf(stderr, "shallow_water: the devices have to share the rows evenly\n");
    return 2;
  }
  // A hill of water; a row more around each block, as both keep it.
  const auto height_at = [&](std::int64_t i, std::int64_t j) {
    if (i < 0 || i >= all_rows || j < 0 || j >= columns) return 0.f;
    const double y = static_cast<double>(i) / static_cast<double>(all_rows) - 0.4;
    const double x = static_cast<double>(j) / static_cast<double>(columns) - 0.6;
    return static_cast<float>(std::exp(-100 * (x * x + y * y)));
  };
  auto h = plx::array<float, 3>::uninitialised({devices, rows + 2, columns + 2});
  float* to = h.mutable_data();
  for (std::int64_t d = 0; d < devices; ++d)
    for (std::int64_t i = -1; i <= rows; ++i)
      for (std::int64_t j = -1; j <= columns; ++j) *to++ = height_at(me * own + d * rows + i, j);
  const plx::array<float, 3> still = plx::zeros_like(h);
  std::vector<float> plain;
  for (std::int64_t i = -1; i <= own; ++i)
    for (std::int64_t j = -1; j <= columns; ++j) plain.push_back(height_at(me * own + i, j));

  shallow_water::by_hand hand(MPI_COMM_WORLD, own, columns, plain);
  auto [height, east, north] = shallow_water::advance(h, still, still, plx::count(2));
  hand.advance(2);
  double ours = 1e9, theirs = 1e9;
  for (int run = 0; run < 3; ++run) {
    ours = std::min(ours, seconds_of([&] {
                      std::tie(height, east, north) = shallow_water::advance(height, east, north, plx::count(steps));
                    }));
    theirs = std::min(theirs, seconds_of([&] { hand.advance(steps); }));
  }
  const plx::array<float, 3> result = height;
  float difference = 0;
  for (std::int64_t d = 0; d < devices; ++d)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const float by_hand = hand.heights()[static_cast<std::size_t>((d * rows + i + 1) * (columns + 2) + j + 1)];
        difference = std::max(difference, std::fabs(result(d, i + 1, j + 1) - by_hand));
      }
  float largest = 0;
  MPI_Allreduce(&difference, &largest, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
  // each step reads three fields twice, and writes each once
  const double bytes = 4. * static_cast<double>(all_rows * columns) * 9 * steps;
  if (me == 0)
    std::printf("%d processes, %lld x %lld: %.2f ms a step, by hand %.2f ms, ratio %.2f; %.1f GB/s; difference %g\n",
                processes, static_cast<long long>(all_rows), static_cast<long long>(columns), 1e3 * ours / steps,
                1e3 * theirs / steps, ours / theirs, bytes / ours / 1e9, static_cast<double>(largest));
  return largest < 1e-4f ? 0 : 1;
}
