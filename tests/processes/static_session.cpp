// A session that a library keeps in an object with static storage, so that it lives longer than MPI does. Run with so
// many processes as one likes; the exit code is 0 where all went well.
#include <parallax/distributed.hpp>
#include <parallax/distributed/mpi.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

namespace plx = parallax;

constexpr auto total = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); });

/// What a function of a library does that is lent a communicator.
float sum_over_processes(MPI_Comm lent, float value) {
  static const auto session = plx::distributed::initialize(lent);
  return total(plx::array<float, 1>::filled({plx::distributed::local_device_count()}, value))(0);
}

int fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  return 1;
}

} // namespace

/// Usage: static_session [devices of each process, 1 where nothing says otherwise]
int main(int argc, char** argv) {
  int granted = 0, processes = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &granted);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const int devices = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int call = 0; call < 3; ++call)
    if (sum_over_processes(MPI_COMM_WORLD, 2.f) != static_cast<float>(2 * processes * devices))
      return fail("the sum is another one");
  if (plx::distributed::local_device_count() != devices) return fail("there are other devices");
  MPI_Finalize();
  if (plx::distributed::process_count() != 1) return fail("the session is still open");
  return 0;
}
