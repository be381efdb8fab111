// The main function of tests that mpirun starts: each process runs all cases, in the same order.
#define CATCH_CONFIG_RUNNER
#include "../test.hpp"

#include <parallax/distributed.hpp>
#include <parallax/distributed/mpi.hpp>

int main(int argc, char** argv) {
  const auto session = parallax::distributed::initialize();
  return Catch::Session().run(argc, argv);
}
