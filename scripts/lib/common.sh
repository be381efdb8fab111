# What the other scripts share. To be sourced.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

jobs=${PARALLAX_JOBS:-$(nproc)}

# What examples, and what tests are built with.
example_packages=(cmake g++ libopenblas-dev ninja-build zlib1g-dev)
test_packages=("${example_packages[@]}" catch2 g++-aarch64-linux-gnu gfortran libopenmpi-dev openmpi-bin python3 qemu-user)

say() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

# Installs those of the named Debian packages that are missing.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is no Debian system, so nothing is installed. Needed are what Debian calls: $*"
    return
  fi
  local package missing=() sudo=()
  for package in "$@"; do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then missing+=("$package"); fi
  done
  if ((${#missing[@]} == 0)); then
    echo "All packages are there: $*"
    return
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "Cannot install packages without root or sudo. As root, run: apt-get install ${missing[*]}" >&2
      return 1
    fi
    sudo=(sudo)
  fi
  echo "Installing ${missing[*]}"
  if ! { "${sudo[@]}" apt-get update -qq &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; }; then
    echo "Could not install packages. As root, try: apt-get install ${missing[*]}" >&2
    return 1
  fi
}

# Puts nvcc on the path, that of $CUDA_HOME where it is set and otherwise the one in the usual place unless the path has
# one, and says whether there is one.
find_nvcc() {
  if [[ -x ${CUDA_HOME:-}/bin/nvcc ]]; then
    PATH=$CUDA_HOME/bin:$PATH
  elif ! command -v nvcc >/dev/null && [[ -x /usr/local/cuda/bin/nvcc ]]; then
    PATH=/usr/local/cuda/bin:$PATH
  fi
  command -v nvcc >/dev/null
}

has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep '^GPU' >/dev/null; }

# Configures and builds a preset as far as it goes, so that one run shows all that is wrong.
build_preset() { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs" "${@:2}" -- -k 0; }
