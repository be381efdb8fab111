// A part of an MPI program: its communicator is lent to Parallax, whose pmaps then go over its processes and their
// devices. MPI stays the program's own. Here half of the processes do something else meanwhile. Run it with
// `mpirun -n 4 inside_mpi`.
#include <parallax/distributed.hpp>
#include <parallax/distributed/mpi.hpp>

#include <cstdio>

namespace plx = parallax;

// Each device integrates its part of 4 / (1 + x^2) from 0 to 1, and gets the sum of all parts.
constexpr auto pi = plx::pmap<"part">([](auto points) {
  auto size = plx::axis_size<"part">();
  auto x = (plx::astype<double>(plx::axis_index<"part">()) + points) / plx::astype<double>(size);
  return plx::pmean<"part">(plx::mean(4. / (1. + x * x)));
});

int main(int argc, char** argv) {
  int granted = 0, rank = 0, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (rank % 2 == 0) {
    const auto session = plx::distributed::initialize(half);
    constexpr std::int64_t points = 1000;
    auto middles = plx::array<double, 2>::uninitialised({plx::distributed::local_device_count(), points});
    for (std::int64_t i = 0; i < middles.size(); ++i)
      middles.mutable_data()[i] = (static_cast<double>(i % points) + 0.5) / points;
    const double sum = pi(middles)(0);
    std::printf("process %d of %d, %d devices: pi is about %.12f\n", plx::distributed::process_index(),
                plx::distributed::process_count(), plx::distributed::device_count(), sum);
    wrong = sum < 3.14159265 || sum > 3.14159266;
  }
  // The program's own communication goes on, and it ends MPI itself.
  int all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return all_wrong;
}
