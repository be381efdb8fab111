// The main function of tests that mpirun starts: each process runs all cases, in the same order.
#define CATCH_CONFIG_RUNNER
#include "../support/test.hpp"

#include "on_devices.hpp"

#include <parallax/distributed/mpi.hpp>

int main(int argc, char** argv) {
  return process_tests::on_devices([&] {
    const auto session = parallax::distributed::initialize();
    return Catch::Session().run(argc, argv);
  });
}
