"""Compilers and the programs that they make, run one at a time with an end to their time."""
import os
import signal
import subprocess

FLAGS = ["-std=c++20", "-O0"]
SECONDS = 600  # for each compiler run and each program
SHOWN = 12  # lines of a compiler's errors


def run(command, folder, **environment):
    """The exit status, what was printed, and the errors."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PARALLAX_")}
    with subprocess.Popen(command, cwd=folder, env={**clean, **environment}, text=True, errors="replace", stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            printed, errors = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # a compiler's driver has started others
            return 124, "", f"was stopped after {SECONDS} s"
    return process.returncode, printed, errors


def shortened(errors):
    return "".join(f"  {line[:400]}\n" for line in errors.splitlines()[:SHOWN])


def quick_flags(root, compiler):
    """Those that use the precompiled header and the static library, which are made if they are not there."""
    made = subprocess.run([root / "scripts/quick", compiler, *FLAGS], stdout=subprocess.PIPE, text=True, check=True)
    return made.stdout.split()


def without_libraries(flags):
    return [flag for flag in flags if flag[:2] not in ("-l", "-L")]
