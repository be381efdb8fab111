# What findings share. To be sourced: `install_python pins...` installs public packages into a temporary folder, which is
# removed in the end, and `behaves BEHAVIOUR` reads a program, runs it there, prints what it says, and fails unless the last
# line is that.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

install_python() {
  "${PYTHON:-python3}" -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --disable-pip-version-check "$@"
}

behaves() {
  local said
  said=$(JAX_PLATFORMS=cpu "$folder/python/bin/python" -)
  printf '%s\n' "$said"
  [[ ${said##*$'\n'} == "$1" ]] || {
    echo "behaved otherwise before: $1" >&2
    exit 1
  }
}

# Installs nvcc of this version, and a Python module `nvcc` for `behaves`: `says(source, *flags)` is what it says of a
# file, and `host_text(source, *flags)` whether an object is made of it, and the text that nvcc gives to g++.
install_nvcc() {
  install_python "nvidia-cuda-nvcc==$1" "nvidia-nvvm==$1" "nvidia-cuda-crt==$1"
  export PYTHONPATH=$folder folder
  cat > "$folder/nvcc.py" <<'PYTHON'
import glob, os, subprocess

folder = os.environ["folder"]
nvcc = glob.glob(folder + "/python/lib/python*/site-packages/nvidia/cu13/bin/nvcc")[0]
print(subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1])

def says(source, *flags):
    """"a constant" where it compiles, and the note of memory that was not given back or else all the text."""
    path = folder + "/constant.cu"
    open(path, "w").write(source)
    run = subprocess.run([nvcc, "-std=c++20", "-ptx", "-o", path + ".ptx", path, *flags], capture_output=True, text=True)
    text = run.stdout + run.stderr
    note = "some dynamic allocations were not deallocated"
    return "a constant" if run.returncode == 0 else note if "were not deallocated" in text else text

def host_text(source, *flags):
    path = folder + "/host.cu"
    open(path, "w").write(source)
    run = subprocess.run([nvcc, "-std=c++20", "-c", "--keep", "--keep-dir", folder, "-o", path + ".o", path, *flags],
                         capture_output=True, text=True)
    return run.returncode == 0, open(folder + "/host.cudafe1.cpp").read() if run.returncode else ""
PYTHON
}
