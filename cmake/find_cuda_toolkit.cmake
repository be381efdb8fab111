# Finds a CUDA toolkit that the library can be compiled with; arguments are those of find_package, from REQUIRED on.
#
# The module of CMake 3.25 fails where the toolkit has no nvToolsExt, as from 13 on, in a project that asks for CMake
# 3.25 or later. So it is told that this one does not.
macro(parallax_find_cuda_toolkit)
  set(parallax_minimum_version "${CMAKE_MINIMUM_REQUIRED_VERSION}")
  if(CMAKE_VERSION VERSION_LESS 3.26)
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  endif()
  find_package(CUDAToolkit 12.4 ${ARGN})
  set(CMAKE_MINIMUM_REQUIRED_VERSION "${parallax_minimum_version}")
endmacro()
