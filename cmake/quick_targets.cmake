# What programs link, made in the project that uses it, with its compiler and flags. parallax::headers has the headers
# alone.
#
#   parallax::parallax  the headers, what no program changes as a static library, and the whole header precompiled for
#                       each target that links this
#   parallax::no_pch    the same without a precompiled header
#   parallax::runtime   the static library: all files of a process link it, or none
#
# And what parallax::cuda links, if the project has enabled CUDA before:
#
#   parallax::cuda_runtime  the CUDA backend, and the kernels that belong to no program, as a static library for the
#                           GPUs of CMAKE_CUDA_ARCHITECTURES: all .cu files of a process link it, or none
#   parallax::cuda_backend  this library, or nothing
#
# With PARALLAX_HEADER_ONLY, the first two are the headers alone, and the last is nothing.
function(parallax_quick_targets)
  if(TARGET parallax::parallax)
    return()
  endif()
  add_library(parallax_runtime STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/runtime.cpp")
  add_library(parallax::runtime ALIAS parallax_runtime)
  target_link_libraries(parallax_runtime PUBLIC parallax::headers)
  target_compile_definitions(parallax_runtime PUBLIC PARALLAX_LINKED_RUNTIME=1)
  set_target_properties(parallax_runtime PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # Imported targets: a project may install libraries that link them.
  add_library(parallax::no_pch INTERFACE IMPORTED GLOBAL)
  add_library(parallax::parallax INTERFACE IMPORTED GLOBAL)
  target_link_libraries(parallax::parallax INTERFACE parallax::no_pch)
  if(PARALLAX_HEADER_ONLY)
    target_link_libraries(parallax::no_pch INTERFACE parallax::headers)
  else()
    target_link_libraries(parallax::no_pch INTERFACE parallax::runtime)
    set_target_properties(
      parallax::parallax
      PROPERTIES INTERFACE_PRECOMPILE_HEADERS
                 "$<$<COMPILE_LANGUAGE:CXX>:<parallax/parallax.hpp$<ANGLE-R>>;$<$<COMPILE_LANG_AND_ID:CXX,GNU>:<parallax/precompiled.hpp$<ANGLE-R>>")
    # g++ collects garbage in what it has precompiled, too, which takes a tenth of its time: not before 1 GB is in use.
    target_compile_options(parallax::parallax
                           INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>")
  endif()
endfunction()

# For parallax::cuda; after CUDA's libraries were found.
function(parallax_quick_cuda_targets)
  if(TARGET parallax::cuda_backend)
    return()
  endif()
  add_library(parallax::cuda_backend INTERFACE IMPORTED GLOBAL)
  if(PARALLAX_HEADER_ONLY OR NOT CMAKE_CUDA_COMPILER_LOADED OR NOT TARGET CUDA::cublasLt OR NOT TARGET NCCL::nccl)
    return()
  endif()
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(architecture MATCHES "^[0-9]+" AND CMAKE_MATCH_0 LESS 70)
      message(STATUS "parallax: CMAKE_CUDA_ARCHITECTURES has ${architecture}, and the CUDA backend is for 70 and above: "
                     "each .cu file compiles it for the target's own architectures")
      return()
    endif()
  endforeach()
  add_library(parallax_cuda_runtime STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cuda_runtime.cu")
  add_library(parallax::cuda_runtime ALIAS parallax_cuda_runtime)
  target_link_libraries(parallax_cuda_runtime PUBLIC parallax::runtime CUDA::cublasLt CUDA::curand NCCL::nccl)
  target_compile_definitions(parallax_cuda_runtime PUBLIC PARALLAX_LINKED_CUDA=1)
  set_target_properties(parallax_cuda_runtime PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(parallax_cuda_runtime PRIVATE -Xcompiler=-include
                                                       "-Xcompiler=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/register_kernels_first.hpp")
  target_link_libraries(parallax::cuda_backend INTERFACE parallax::cuda_runtime)
endfunction()
