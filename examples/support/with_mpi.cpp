// Lets an example run in several processes: where this is linked with it, mpirun may start it.
#include <parallax/distributed/mpi.hpp>
