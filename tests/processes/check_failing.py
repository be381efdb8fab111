#!/usr/bin/env python3
"""Lets one of three processes fail at each of several exchanges, and reads what the others print.

Usage: check_failing.py <mpirun> <failing> (throw | exit | kill | sleep | abort)
"""
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

mpirun, program, way = sys.argv[1:]
deadline = 0.7  # seconds
# What each exchange is called. A process that needs nothing of the one that fails goes on to the next.
names = ["all_reduce", "all_reduce", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute", "broadcast",
         'barrier "there"', "gather"]
processes = 3
wrong = []


def run(failing, exchange):
    command = [mpirun, "-n", str(processes)]
    # else Open MPI ends the others when one of them has died, or left without a word to MPI
    if way in ("throw", "exit", "kill"):
        command.append("--enable-recovery")
    environment = dict(os.environ, PARALLAX_COLLECTIVE_TIMEOUT=str(deadline))
    begin = time.monotonic()
    ended = subprocess.run(command + [program, way, str(failing), str(exchange)], env=environment, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return ended.returncode, ended.stdout, time.monotonic() - begin


def check(failing, exchange):
    code, output, seconds = run(failing, exchange)

    def expect(holds, what):
        if not holds:
            wrong.append(f"{way} of process {failing} at exchange {exchange} ({names[exchange]}): {what}\n{output}")

    if way == "abort":
        said = re.findall(r"^parallax: process (\d): waited .* in (.*) \(.*missing: (.*)$", output, re.M)
        expect(code == 86, f"the exit code is {code}")
    else:
        told = re.findall(r"^process (\d): after ([\d.]+) s: (.*)$", output, re.M)
        others = {int(p): (float(t), text) for p, t, text in told if int(p) != failing}
        expect(len(others) == processes - 1, "not all others say how they ended")
        for process, (took, text) in others.items():
            expect(took < deadline + 1, f"process {process} took {took} s")
        if way == "throw":
            for _, text in others.values():
                expect(f"process {failing} failed: it left its session by an exception" in text, text)
            return
        said = re.findall(r"process (\d): waited .* in (.*) \(exchange number \d+ between processes\); .*missing: (.*)$",
                          output, re.M)
    expect(any(name == names[exchange] and missing == str(failing) for _, name, missing in said),
           "nobody names the collective and the process that was missing")
    expect(all(str(failing) in missing for _, _, missing in said), "another one was missed")


exchanges = range(len(names))
if way in ("exit", "abort"):
    exchanges = [1, 5, 8]
# of a broadcast nobody waits but for its source
failing = {exchange: 0 if names[exchange] == "broadcast" else 1 + exchange % 2 for exchange in exchanges}
with ThreadPoolExecutor(3) as pool: # they wait most of the time
    list(pool.map(lambda exchange: check(failing[exchange], exchange), exchanges))
if wrong:
    sys.exit("\n".join(wrong))
print(f"{way}: all others ended in time, and said why")
