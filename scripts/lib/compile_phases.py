"""What compilers say of their phases: g++'s -ftime-report, clang++'s -ftime-trace, and the steps that nvcc starts."""
import json
import re
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

CONSTANTS, TEMPLATES, CODE, REST = "constant evaluation", "instantiation", "code generation", "rest"
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}


class ReportError(Exception):
    pass


class Part(NamedTuple):
    """A phase's share of the time, and its MB."""
    share: float
    memory: float


def time_report(text):
    """The numbers behind each name of g++'s -ftime-report: seconds first, and last the bytes that were allocated."""
    # " TOTAL  :  0.72  0.61  1.35  89M", and a percentage behind each number of a phase
    found = {}
    for line in text.splitlines():
        name, colon, numbers = re.sub(r"\([^)]*\)", "", line).partition(":")
        fields = numbers.split()
        if colon and len(fields) in (2, 4) and all(re.fullmatch(r"[\d.]+[kMG]?", each) for each in fields):
            *seconds, size = fields
            found[name.strip()] = [float(each) for each in seconds] + [float(size.rstrip("kMG")) * UNITS[size.lstrip("0123456789.")]]
    if "TOTAL" not in found:
        raise ReportError("-ftime-report says no total")
    return found


def gnu_phases(text):
    """Parts of g++'s phases, of user time alone: to be asked for the time costs system calls. Memory is what was allocated."""
    report = time_report(text)
    nothing = [0.0, 0.0]

    def part(name):
        numbers = report.get(name, nothing)
        return Part(numbers[0] / max(report["TOTAL"][0], 0.01), numbers[-1] / 1e6)
    return {CONSTANTS: part("constant expression evaluation"), TEMPLATES: part("template instantiation"),
            CODE: part("phase opt and generate")}


def phase_of(name, outer):
    if outer == CODE or name in ("Backend", "CodeGen Function"):
        return CODE
    if name.startswith("Evaluate") or name == "isPotentialConstantExpr":
        return CONSTANTS
    if name.startswith("Instantiate") or name == "PerformPendingInstantiations":
        return TEMPLATES
    return REST


def room_of(file):
    """The room of a file: a folder of include/parallax, the standard library, or the program."""
    inside = re.search(r"include/parallax/(?:(\w+)/)?", file)
    if inside:
        return inside[1] or "the umbrella"
    return "standard library" if re.search(r"include/(.*/)?c\+\+/|^/usr/|/nvidia/", file) else "the program"


def own_times(events):
    """(begin, end, phase, room) of what each event does between those within it, in their order. Times are microseconds."""
    stack, pieces, now = [], [], 0

    def advance(until):
        nonlocal now
        if stack and until > now:
            pieces.append((now, until, *stack[-1][1:]))
        now = max(now, until)
    for event in sorted(events, key=lambda each: (each["ts"], -each["dur"])):
        while stack and stack[-1][0] <= event["ts"]:
            advance(stack[-1][0])
            stack.pop()
        advance(event["ts"])
        phase = phase_of(event["name"], stack[-1][1] if stack else REST)
        file = event.get("args", {}).get("file")
        room = room_of(file) if file else stack[-1][2] if stack else "the program"
        stack.append((event["ts"] + event["dur"], phase, room))
    while stack:
        advance(stack[-1][0])
        stack.pop()
    return pieces


def clang_phases(trace, samples):
    """Parts of clang++'s phases, and shares of rooms in instantiation. `samples` are times and the MB in use then: a phase's
    memory is by how much the process grew in it."""
    trace = json.loads(Path(trace).read_text())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X" and not event["name"].startswith("Total ")]
    main = next((event["tid"] for event in events if event["name"] == "ExecuteCompiler"), None)
    if main is None:
        raise ReportError("-ftime-trace says no total")
    pieces = own_times([event for event in events if event["tid"] == main])
    whole = sum(end - begin for begin, end, _, _ in pieces)
    times, grown, rooms = dict.fromkeys((CONSTANTS, TEMPLATES, CODE, REST), 0.0), {}, {}
    for begin, end, phase, room in pieces:
        times[phase] += (end - begin) / whole
        if phase == TEMPLATES:
            rooms[room] = rooms.get(room, 0) + (end - begin) / whole
    begins, before = [begin for begin, _, _, _ in pieces], 0
    for moment, size in samples:
        at = bisect_right(begins, moment * 1e6 - trace["beginningOfTime"]) - 1
        phase = pieces[max(at, 0)][2]
        grown[phase] = grown.get(phase, 0) + max(size - before, 0)
        before = size
    return {phase: Part(times[phase], grown.get(phase, 0)) for phase in (CONSTANTS, TEMPLATES, CODE)}, rooms


def nvcc_steps(text):
    """The environment and the commands that `nvcc --dryrun` prints."""
    environment, commands = {}, []
    for line in text.splitlines():
        if line.startswith("#$ "):
            line = line[3:]
            variable = re.match(r"(\w+)=(.*)", line)
            if variable:
                environment[variable[1]] = variable[2].strip()
            elif not line.startswith("rm "):
                commands.append(line)
    if not commands:
        raise ReportError("nvcc --dryrun names no commands")
    return environment, commands


def step_name(command):
    """What a command of nvcc's is called in tables."""
    program = Path(command.split()[0].strip('"')).name
    if program in ("cudafe++", "cicc", "ptxas"):
        return program
    return "host" if re.search(r" -c -x c\+\+ ", command) else REST
