# What the project's own tests, examples and benchmarks are compiled with, and its users are not: warnings as errors,
# and this machine's instructions.
set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast -Wshadow -Wswitch-enum -Werror)
set(cuda_warnings --Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Wconversion,-Wshadow)

add_library(parallax_warnings INTERFACE)
target_compile_options(parallax_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>"
                                                   "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>")

add_library(parallax_development INTERFACE)
target_link_libraries(parallax_development INTERFACE parallax::no_pch parallax_warnings)
# g++ 12 may fail inside while it collects garbage beside a precompiled header: it has 4 GB before it begins.
target_compile_options(parallax_development
                       INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=4000000>")
if(PARALLAX_NATIVE)
  target_compile_options(parallax_development INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-march=native>"
                                                        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-march=native>")
  # Of processors with AVX10 clang++ 19 finds features that it then warns of.
  target_compile_options(
    parallax_development INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-invalid-feature-combination>"
                                   "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-unknown-warning-option>")
endif()
