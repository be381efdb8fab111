"""What a compiler takes for a program: processor seconds and MB, of all and of its phases."""
import os
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from compile_phases import (CODE, CONSTANTS, REST, TEMPLATES, Part, ReportError, clang_phases, gnu_phases, nvcc_steps,
                            step_name)
from compile_programs import FOLDER, ROOT

SECONDS = 900  # for each command
PHASES = {"g++": [CONSTANTS, TEMPLATES, CODE], "clang++": [CONSTANTS, TEMPLATES, CODE],
          "nvcc": ["cudafe++", "cicc", "ptxas", f"host's {CONSTANTS}", f"host's {TEMPLATES}", f"host's {CODE}"]}


class Failure(Exception):
    pass


class Run(NamedTuple):
    seconds: float  # of processors, also those of processes that it started
    memory: float   # MB at most, of one process
    samples: list   # when the process used how many MB
    printed: str


class Cost(NamedTuple):
    seconds: float
    memory: float
    phases: dict  # of Part, whose shares are of `seconds`
    rooms: dict   # shares of `seconds` in instantiation


def run(command, folder, environment=None):
    """Runs a command to its end."""
    samples, began = [], time.monotonic()
    with open(Path(folder) / "output", "w+", errors="replace") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        ended = 0
        try:
            while not ended:
                ended, status, usage = os.wait4(process.pid, os.WNOHANG)
                if not ended:
                    samples.append((time.time(), memory_of(process.pid)))
                    if time.monotonic() - began > SECONDS:
                        raise Failure(f"was stopped after {SECONDS} s")
                    time.sleep(0.01)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if not ended:
                os.killpg(process.pid, signal.SIGKILL)  # a compiler's driver has started others
                process.wait()
        output.seek(0)
        printed = output.read()
    if process.returncode != 0:
        raise Failure(f"exit status {process.returncode}\n" + "".join(f"  {line[:400]}\n" for line in printed.splitlines()[:12]))
    return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, samples, printed)


def memory_of(process):
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024**2
    except (OSError, IndexError):
        return 0.0


class Compiler:
    """A compiler that builds in one of the ways to build: header-only, runtime or quick."""

    def __init__(self, command, build, level):
        self.command, self.build = command, build
        version = text_of([command, "--version"])
        self.kind = "nvcc" if "nvcc" in version else "clang++" if "clang" in version else "g++"
        release = version.split("release ")[1].split(",")[0] if self.kind == "nvcc" else text_of([command, "-dumpfullversion", "-dumpversion"])
        self.name = f"{self.kind} {release.strip()}" + ("" if build == "header-only" else f", {build}")
        self.flags = ["-std=c++20", f"-O{level}"]
        gnu, own = (text_of([ROOT / "scripts/lib/compiler_limits", which]).split()
                    for which in ("GNU", {"g++": "GNU", "clang++": "CLANG", "nvcc": "NVCC"}[self.kind]))
        if build == "quick":
            architecture = ["-arch=sm_80"] * (self.kind == "nvcc")
            made = text_of([ROOT / "scripts/quick", command, *self.flags, *architecture]).split()
            self.flags += [flag for flag in made if flag[:2] not in ("-l", "-L")]
        else:
            self.flags += own + [f"-I{ROOT}/include"]
            self.flags += ["-DPARALLAX_LINKED_RUNTIME=1"] * (build == "runtime")
        if self.kind == "nvcc":
            self.flags += ["-arch=sm_80", "-x", "cu", *[f"-Xcompiler={flag}" for flag in gnu]]
        self.flags.append(f"-I{FOLDER}")

    def cost(self, text, runs):
        """The medians of a few runs of a source, and its phases by one more."""
        with tempfile.TemporaryDirectory(prefix="compile-cost-") as folder:
            source = Path(folder) / "program.cpp"
            source.write_text(text)
            command = [self.command, *self.flags, "-c", str(source), "-o", "program.o"]
            try:
                return self.nvcc_cost(command, runs, folder) if self.kind == "nvcc" else self.plain_cost(command, runs, folder)
            except ReportError as error:
                raise Failure(str(error)) from error

    def plain_cost(self, command, runs, folder):
        made = [run(command, folder) for _ in range(runs)]
        rooms = {}
        if self.kind == "g++":
            phases = gnu_phases(run([*command, "-ftime-report"], folder).printed)
        else:
            # not below 0.2 ms, which would be many hundred MB
            trace = ["-ftime-trace=trace.json", "-ftime-trace-granularity=200", "-ftime-trace-verbose"]
            phases, rooms = clang_phases(Path(folder) / "trace.json", run([*command, *trace], folder).samples)
        return Cost(median(made, "seconds"), median(made, "memory"), phases, rooms)

    def nvcc_cost(self, command, runs, folder):
        environment, steps = nvcc_steps(run([*command, "--dryrun", "--keep"], folder).printed)
        environment = {**os.environ, **environment}
        made = {step: [] for step in steps}
        for _ in range(runs):
            for step in steps:
                made[step].append(run(["sh", "-c", step], folder, environment))
        seconds = {step: median(made[step], "seconds") for step in steps}
        whole, phases = sum(seconds.values()), {}
        for step in steps:
            name, memory = step_name(step), median(made[step], "memory")
            if name == "host":  # what cudafe++ wrote is there still
                for phase, part in gnu_phases(run(["sh", "-c", f"{step} -ftime-report"], folder, environment).printed).items():
                    phases[f"host's {phase}"] = Part(part.share * seconds[step] / whole, part.memory)
            elif name != REST:
                phases[name] = Part(seconds[step] / whole, memory)
        return Cost(whole, max(median(each, "memory") for each in made.values()), phases, {})


def median(runs, what):
    return statistics.median(getattr(each, what) for each in runs)


def text_of(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failure(f"{command[0]}: {error}") from error
