# How scripts/gpu-check finds libraries and compiles its program. To be sourced there.

# Where libraries and headers may be: in the toolkit, where the linker looks, and in Python's packages of them.
mapfile -t packages < <(python3 -c 'import sys; print("\n".join(path + "/nvidia" for path in sys.path if path))' 2>/dev/null || true)
mapfile -t places < <(
  for place in ${NCCL_HOME:+"$NCCL_HOME"} ${toolkit:+"$toolkit" "$toolkit"/targets/*-linux} /usr/local/cuda /usr/local /usr "${packages[@]/%//cu13}" \
    "${packages[@]/%//nccl}" "${packages[@]/%//cublas}" "${packages[@]/%//cuda_runtime}"; do
    if [[ -d $place ]]; then echo "$place"; fi
  done
)

# The path of a library's shared object, whatever its version.
library() {
  local place folder file
  for place in "${places[@]}"; do
    for folder in lib64 lib lib/x86_64-linux-gnu lib/aarch64-linux-gnu; do
      for file in "$place/$folder/lib$1.so" "$place/$folder/lib$1.so."[0-9]*; do
        if [[ -e $file ]]; then
          readlink -f "$file"
          return
        fi
      done
    done
  done
  file=$(ldconfig -p 2>/dev/null | awk -v name="lib$1.so" 'index($1, name) == 1 { print $NF; exit }')
  if [[ -z $file ]]; then
    echo "gpu-check: there is no lib$1; set NCCL_HOME or CUDA_HOME to where it is" >&2
    return 1
  fi
  echo "$file"
}

# The folder of a header.
header() {
  local place
  for place in "${places[@]}"; do
    if [[ -e $place/include/$1 ]]; then
      echo "$place/include"
      return
    fi
  done
  echo "gpu-check: there is no $1; set NCCL_HOME or CUDA_HOME to where it is" >&2
  return 1
}

# compile SOURCE FLAG...: a source of tests/gpu/, or of the libraries in cmake/
compile() {
  local source=$1 name object begin=$SECONDS
  name=${1#tests/gpu/}
  name=${name%.c*}
  object=$objects/${name//\//_}.o
  shift
  if [[ " $* " == *" -ptx "* ]]; then object=${object%.o}.ptx; fi
  nvcc "${flags[@]}" "$@" "$source" -o "$object" >"${object%.*}.log" 2>&1 || touch "$objects/failed"
  echo "$name: $((SECONDS - begin)) s"
}

# Makes "$folder/gpu_check", and says in "$folder/spills" how many kernels spill.
build() {
  local name place file source
  includes=() libraries=()
  for name in nccl.h cublasLt.h; do
    place=$(header "$name")
    # the folders that compilers know by themselves keep their order
    if [[ $place != /usr/include && $place != /usr/local/include && $place != "$toolkit/include" ]]; then includes+=(-isystem "$place"); fi
  done
  for name in cublasLt cublas nccl; do
    file=$(library "$name")
    libraries+=(-Xlinker "$file")
    if ! $build_only; then libraries+=(-Xlinker -rpath -Xlinker "$(dirname "$file")"); fi
  done

  # The host backend's matrix products; what is run elsewhere brings its own.
  if ! $build_only && g++ -x c++ -include cblas.h - -lopenblas -o /dev/null 2>/dev/null <<<'int main() { return cblas_sdot(0, nullptr, 1, nullptr, 1) > 0; }'; then
    libraries+=(-lopenblas)
  else
    echo "The host multiplies in plain loops, without OpenBLAS"
    includes+=(-I tests/gpu/plain_blas)
  fi

  local architectures=(-arch=native) warnings=() # a compiler that nobody has tried may warn of more
  if $build_only; then architectures=(-arch="${PARALLAX_GPU_ARCHITECTURE:-sm_90}"); fi
  local program_options=("${architectures[@]}" -c)
  if $compile_only; then
    architectures=(-gencode "arch=compute_80,code=sm_80" -gencode "arch=compute_90,code=[sm_90,compute_90]")
    program_options=(-arch=compute_80 -ptx)
    warnings=(--Werror=all-warnings "-Xcompiler=-Wall,-Wextra,-Wconversion,-Wshadow")
  fi
  local limits nvcc_limits
  limits=$(scripts/lib/compiler_limits GNU)
  nvcc_limits=$(scripts/lib/compiler_limits NVCC)
  read -ra limits <<<"$limits"
  read -ra nvcc_limits <<<"$nvcc_limits"
  flags=(-std=c++20 -lineinfo -DPARALLAX_LINKED_RUNTIME=1 -DPARALLAX_LINKED_CUDA=1 -I include -I bench -I tests "${includes[@]}" -Xptxas -v "${warnings[@]}"
    "${nvcc_limits[@]}" "${limits[@]/#/-Xcompiler=}")

  say "Compiling"
  rm -f "$objects"/failed "$objects"/*.o "$objects"/*.ptx "$objects"/*.log
  # Those that take longest come first.
  for source in tests/gpu/step_timings.cu tests/gpu/programs/*.cu $(ls tests/gpu/*_timings.cu | grep -v step_timings.cu) \
    cmake/cuda_runtime.cu cmake/runtime.cpp $(ls tests/gpu/*.cu | grep -v _timings.cu); do
    while (($(jobs -pr | wc -l) >= jobs)); do wait -n; done
    case $source in
      tests/gpu/programs/*) compile "$source" -O1 "${program_options[@]}" & ;;
      *_timings.cu) compile "$source" -O2 "${program_options[@]}" & ;;
      cmake/cuda_runtime.cu) compile "$source" -O2 -c "${architectures[@]}" -Xcompiler=-include,cmake/register_kernels_first.hpp & ;;
      *) compile "$source" -O2 -c "${architectures[@]}" & ;;
    esac
  done
  wait
  if [[ -e $objects/failed ]]; then
    grep -hv 'ptxas info\|bytes stack frame' "$objects"/*.log >&2 || true
    echo "gpu-check: a source file does not compile" >&2
    exit 1
  fi
  local link=(nvcc "${architectures[@]}" "$objects"/*.o -o "$folder/gpu_check" "${libraries[@]}")
  if $compile_only; then
    "${link[@]}" -Xlinker --warn-unresolved-symbols 2>"$objects/link.log" || { cat "$objects/link.log" >&2 && exit 1; }
    if grep 'undefined reference' "$objects/link.log" | grep -v 'gpu::[a-z]*_programs()\|gpu::\(measure\|repeat\|train\)_[a-z_]*(' >&2; then
      echo "gpu-check: more than its programs is missing" >&2
      exit 1
    fi
  else
    "${link[@]}"
  fi
  # CUDA's own sine takes a stack frame: programs that are there for their results do not count
  local logs kernels
  mapfile -t logs < <(ls "$objects"/*.log | grep -v programs_)
  kernels=$(cat "${logs[@]}" | grep -c 'bytes stack frame')
  cat "${logs[@]}" | grep 'bytes stack frame' | grep -vc ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' >"$folder/spills" || true
  echo "$kernels kernels, of which $(<"$folder/spills") spill registers or have a stack frame"
}
