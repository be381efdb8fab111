#!/usr/bin/env bash
# Guessed: the wheel nvidia-cuda-nvcc==13.0.88 is the compiler of CUDA 13.0, whose PTX (ISA 9.0) drivers of CUDA 13.0 take.
# Real: it takes a nvidia-nvvm of any release, which has cicc, so that an nvcc that says 13.0 writes PTX of the newest release; with nvidia-nvvm pinned too it writes 9.0.
# Version: nvidia-cuda-nvcc 13.0.88 beside nvidia-nvvm 13.5.37.
. "$(dirname "$0")/packages.sh"
install_python nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.5.37
export folder
behaves "nvcc of release 13.0 writes PTX of version 9.5; with nvidia-nvvm 13.0.88: 9.0" <<'PYTHON'
import glob, os, re, subprocess, sys

folder = os.environ["folder"]
nvcc = glob.glob(folder + "/python/lib/python*/site-packages/nvidia/cu13/bin/nvcc")[0]
open(folder + "/kernel.cu", "w").write("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }")

def ptx_version():
    subprocess.run([nvcc, "-ptx", "-arch=compute_80", "-o", folder + "/kernel.ptx", folder + "/kernel.cu"], check=True)
    return re.search(r"\.version (\S+)", open(folder + "/kernel.ptx").read())[1]

needed = subprocess.run([sys.executable, "-c", "import importlib.metadata as m; print(m.requires('nvidia-cuda-nvcc'))"],
                        capture_output=True, text=True).stdout
print("it needs", needed.strip())
release = re.search(r"release (\S+),", subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout)[1]
mixed = ptx_version()
subprocess.run([folder + "/python/bin/pip", "install", "--quiet", "--disable-pip-version-check", "nvidia-nvvm==13.0.88"], check=True)
print(f"nvcc of release {release} writes PTX of version {mixed}; with nvidia-nvvm 13.0.88: {ptx_version()}")
PYTHON
