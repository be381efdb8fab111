# Finds MPI for C++ without its old C++ interface; arguments are those of find_package.
function(parallax_find_mpi)
  set(MPI_CXX_SKIP_MPICXX ON CACHE BOOL "Without the interface that MPI 3 has dropped")
  enable_language(C) # CMake's module asks a C compiler too
  find_package(MPI COMPONENTS CXX GLOBAL ${ARGN})
  set(MPI_CXX_FOUND ${MPI_CXX_FOUND} PARENT_SCOPE)
  set(MPIEXEC_EXECUTABLE ${MPIEXEC_EXECUTABLE} PARENT_SCOPE)
endfunction()
