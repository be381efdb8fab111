#!/usr/bin/env bash
# Guessed: MPI_Allreduce with MPI_MAX of floats, one of which is NaN, gives all processes the same: NaN or the largest number.
# Real: processes get different results, NaN, the largest, or a smaller number, which depend on who has NaN: a loop until all agree need not end together.
# Version: MPICH 5.0.2 with 4 processes (Open MPI 5.0.11 gives all the same, with NaN at process 2 a smaller number).
. "$(dirname "$0")/packages.sh"
install_python mpich==5.0.2 mpi4py==4.1.2 numpy==2.4.6
behaves "of 1 nan 3 4: 4 4 nan 4; of 1 2 nan 4: 4 nan 4 2; of 1 2 3 nan: nan 3 2 3" <<'PYTHON'
import subprocess, sys

program = """
from mpi4py import MPI
import numpy as np

world = MPI.COMM_WORLD
said = []
for place in (1, 2, 3):
    mine = np.array([np.nan if world.rank == place else world.rank + 1], np.float32)
    largest = np.empty_like(mine)
    world.Allreduce(mine, largest, MPI.MAX)
    given, results = world.gather(mine[0]), world.gather(largest[0])
    if world.rank == 0:
        said.append("of " + " ".join(f"{x:g}" for x in given) + ": " + " ".join(f"{x:g}" for x in results))
if world.rank == 0:
    print(MPI.Get_library_version().splitlines()[0])
    print("; ".join(said))
"""
subprocess.run([sys.prefix + "/bin/mpiexec", "-n", "4", sys.executable, "-c", program], check=True)
PYTHON
