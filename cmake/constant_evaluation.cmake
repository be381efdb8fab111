# How much the compilers may compute in constant expressions. Programs are traced, differentiated and fused there, and
# the compilers' defaults suit only small ones.
set(PARALLAX_CONSTANT_EVALUATION_GNU -fconstexpr-ops-limit=2000000000 -fconstexpr-loop-limit=2000000000
                                     -fconstexpr-depth=4096)
# ... and clang++ is to show the user's own line, however far from the error it is.
set(PARALLAX_CONSTANT_EVALUATION_CLANG -fconstexpr-steps=2000000000 -fconstexpr-depth=4096 -fbracket-depth=4096
                                       -fconstexpr-backtrace-limit=0)
set(PARALLAX_CONSTANT_EVALUATION_NVCC "SHELL:-Xcudafe --max_cost_constexpr_call=2000000000"
                                      "SHELL:-Xcudafe --max_depth_constexpr_call=4096")

# Lets g++ drop constants that nothing uses at -O0 too: the words of each program, of 0.5 MB, are made into tables.
set(PARALLAX_UNUSED_CONSTANTS_GNU -ftoplevel-reorder)

# Hands the limits to whoever links `target`, and C++20 to nvcc, which CMake 3.25 cannot do by itself.
function(parallax_constant_evaluation target)
  target_compile_options(
    ${target}
    INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${PARALLAX_CONSTANT_EVALUATION_GNU};${PARALLAX_UNUSED_CONSTANTS_GNU}>"
              "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:${PARALLAX_CONSTANT_EVALUATION_CLANG}>")
  foreach(option IN LISTS PARALLAX_CONSTANT_EVALUATION_NVCC)
    target_compile_options(${target} INTERFACE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${option}>")
  endforeach()
  # nvcc's host compiler evaluates the constants once more. It is g++ unless one says otherwise, and then one's own flags
  # have to say it, since CMake 3.25 does not know which it is.
  foreach(option IN LISTS PARALLAX_CONSTANT_EVALUATION_GNU PARALLAX_UNUSED_CONSTANTS_GNU)
    target_compile_options(
      ${target} INTERFACE "$<$<AND:$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>,$<CXX_COMPILER_ID:GNU>>:-Xcompiler=${option}>")
  endforeach()
  target_compile_options(${target} INTERFACE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20>")
endfunction()
