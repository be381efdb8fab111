# What saves time where many files include the library. Both are made in the project that uses them, with its compiler
# and flags.
#
#   parallax::runtime   what no program changes, compiled once, for C++ and CUDA files: all files of a process link it,
#                       or none
#   parallax::pch       the whole header, precompiled for each target that links this
function(parallax_compiled_once)
  if(NOT TARGET parallax::runtime)
    add_library(parallax_runtime STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/runtime.cpp")
    add_library(parallax::runtime ALIAS parallax_runtime)
    target_link_libraries(parallax_runtime PUBLIC parallax::parallax)
    target_compile_definitions(parallax_runtime PUBLIC PARALLAX_LINKED_RUNTIME=1)
    set_target_properties(parallax_runtime PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  if(NOT TARGET parallax::pch)
    add_library(parallax_pch INTERFACE)
    add_library(parallax::pch ALIAS parallax_pch)
    target_link_libraries(parallax_pch INTERFACE parallax::parallax)
    target_precompile_headers(parallax_pch INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:<parallax/parallax.hpp$<ANGLE-R>>")
  endif()
endfunction()
