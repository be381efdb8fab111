"""scripts/gpu-check with a program in place of its own that passes, fails, hangs or crashes as it is told: how each stage
went is in the report at once, and takes no more than its time."""
import json
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """#!/usr/bin/env bash
# gpu_check STAGE --report FILE ...
if [[ $1 == --help ]]; then exit 0; fi
for ((i = 1; i <= $#; ++i)); do
  if [[ ${!i} == --report ]]; then next=$((i + 1)) report=${!next}; fi
done
echo "$*" >>"$CALLS"
if [[ -n ${report:-} ]]; then printf '{"stage": "%s", "case": "x", "who": "parallax", "median_us": 1' "$1" >>"$report"; fi
case $1 in
  ceilings) sleep 60 ;;
  elementwise) kill -SEGV $$ ;;
  rows) exit 1 ;;
esac
if [[ -n ${report:-} ]]; then echo "}" >>"$report"; fi
"""


class GpuCheckTest(unittest.TestCase):
    def run_with(self, program, *options, **variables):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for path, text in {folder / "bin/nvidia-smi": "#!/bin/sh\necho 'GPU 0: none'\n",
                               folder / "bin/ncu": "#!/bin/sh\nexit 3\n",
                               folder / "bin/compute-sanitizer": "#!/bin/sh\nexit 0\n",
                               folder / "bin/python3": "#!/bin/sh\nexit 1\n",  # no packages, whatever there are
                               folder / "built/gpu_check": program}.items():
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
                path.chmod(0o755)
            (folder / "built/spills").write_text("0\n")
            self.report = folder / "report.jsonl"
            environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "CALLS": str(folder / "calls"),
                           **variables}
            begin = time.monotonic()
            run = subprocess.run([ROOT / "scripts/gpu-check", "--run-only", folder / "built", *options, self.report],
                                 env=environment, capture_output=True, text=True, check=False)
            self.seconds = time.monotonic() - begin
            self.calls = (folder / "calls").read_text().splitlines()
            self.lines = []
            for line in self.report.read_text().splitlines():
                try:
                    self.lines.append(json.loads(line))
                except json.JSONDecodeError:
                    self.lines.append({"cut off": line})
            self.outcomes = {line["stage"]: line["outcome"] for line in self.lines if "outcome" in line and "case" not in line}
            return run

    def test_a_crash_and_a_hang_cost_the_others_nothing(self):
        run = self.run_with(PROGRAM, "--seconds", "48")
        self.assertEqual(1, run.returncode, run.stderr)
        self.assertEqual("passed", self.outcomes["machine"])
        self.assertEqual("failed", self.outcomes["rows"])
        self.assertEqual("ended by signal 11", self.outcomes["elementwise"])
        self.assertRegex(self.outcomes["ceilings"], r"^stopped after [2-4] s$")
        for stage in ("checks", "reductions", "steps", "products", "gradients", "repeated-steps", "digits", "two-processes",
                      "abandoned-collectives", "memcheck", "racecheck"):
            self.assertEqual("passed", self.outcomes[stage], stage)
        self.assertEqual(3, sum("cut off" in line for line in self.lines))
        self.assertLess(self.seconds, 40)
        self.assertIn("ceilings: stopped", run.stdout)
        self.assertEqual("skipped: it is not installed", self.outcomes["torch"])

    def test_stages_stand_in_the_order_that_they_ran_in(self):
        self.run_with("#!/bin/sh\nif [ $1 != --help ]; then echo $1 >>$CALLS; fi\n", "--mnist", "/nowhere")
        ran = [stage for stage in self.outcomes if stage in self.calls]
        self.assertEqual(self.calls[:len(ran)], ran)
        self.assertEqual(["machine", "checks", "ceilings"], ran[:3])

    def test_where_all_passes(self):
        run = self.run_with("#!/bin/sh\nif [ $1 != --help ]; then echo $* >>$CALLS; fi\n", "--mnist", "/nowhere")
        self.assertEqual(0, run.returncode, run.stderr + run.stdout)
        self.assertEqual("skipped: it cannot be done here", self.outcomes["profile of rows"])
        self.assertTrue(any(call.startswith("digits ") and call.endswith("--mnist /nowhere") for call in self.calls))

    def test_no_stage_begins_when_the_time_is_over(self):
        run = self.run_with("#!/bin/sh\nif [ $1 = --help ]; then exit 0; fi\necho $1 >>$CALLS\nsleep 60\n", "--seconds", "3")
        self.assertEqual(1, run.returncode)
        self.assertLess(self.seconds, 15)
        self.assertEqual("skipped: no time was left", self.outcomes["memcheck"])
        self.assertNotIn("two-processes", self.calls)

    def test_a_stage_ends_when_all_time_is_over(self):
        # bash counts on from there: 475 seconds have gone to compiling, say
        self.run_with("#!/bin/sh\nif [ $1 = --help ]; then exit 0; fi\necho $1 >>$CALLS\nif [ $1 = checks ]; then sleep 60; fi\n",
                      SECONDS="475")
        self.assertLess(self.seconds, 15)
        self.assertRegex(self.outcomes["checks"], "^stopped after [3-6] s$")
        self.assertEqual("skipped: no time was left", self.outcomes["rows"])

    def test_what_is_asked_for_wrongly(self):
        for options in (["--seconds"], ["--seconds", "many"], ["--nothing"], ["a", "b"]):
            run = subprocess.run([ROOT / "scripts/gpu-check", *options], capture_output=True, text=True, check=False)
            self.assertEqual(2, run.returncode, options)
            self.assertIn("usage: ", run.stderr)


if __name__ == "__main__":
    unittest.main()
