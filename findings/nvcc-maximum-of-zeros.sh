#!/usr/bin/env bash
# Guessed: fmaxf(-0.f, 0.f) on a device is 0 whether its operands are constants or not, as PTX says of max.f32 (+0 is above -0).
# Real: nvcc computes that of constants itself, and gets -0, or 0 in the other order; ptxas makes 0 of max.f32 with the same constants.
# Version: nvcc and ptxas 13.5.37 for sm_90.
. "$(dirname "$0")/packages.sh"
install_nvcc 13.5.37
install_python nvidia-cuda-nvdisasm==13.5.37
behaves "nvcc: fmaxf(-0, 0) -0, fmaxf(0, -0) 0; ptxas: max(-0, 0) 0" <<'PYTHON'
import os, re, subprocess
from nvcc import folder, nvcc

def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout

def made_by_nvcc(operands):
    path = folder + "/maximum.cu"
    open(path, "w").write(f'extern "C" __global__ void maximum(float* y) {{ *y = fmaxf({operands}); }}')
    run(nvcc, "-arch=sm_90", "-ptx", "-o", path + ".ptx", path)
    stored = {"0": "0", "-2147483648": "-0"}
    return stored[re.search(r"mov\.u32\s+%r\d+, (-?\d+);", open(path + ".ptx").read())[1]]

def made_by_ptxas():
    path = folder + "/maximum.ptx"
    open(path, "w").write("""
.version 8.0
.target sm_90
.address_size 64
.visible .entry maximum(.param .u64 result) {
  .reg .f32 %f<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [result];
  mov.f32 %f0, 0f80000000;
  mov.f32 %f1, 0f00000000;
  max.f32 %f2, %f0, %f1;
  st.global.f32 [%rd0], %f2;
  ret;
}""")
    run(os.path.dirname(nvcc) + "/ptxas", "-arch=sm_90", "-o", path + ".cubin", path)
    code = run(os.path.dirname(nvcc) + "/nvdisasm", "-c", path + ".cubin")
    return "0" if re.search(r"STG\.E .*, RZ ;", code) and "FMNMX" not in code else code

print(f"nvcc: fmaxf(-0, 0) {made_by_nvcc('-0.f, 0.f')}, fmaxf(0, -0) {made_by_nvcc('0.f, -0.f')}; ptxas: max(-0, 0) {made_by_ptxas()}")
PYTHON
