#!/usr/bin/env python3
"""What scripts/compile-cost reads from compilers: g++'s report, clang++'s trace, and nvcc's steps."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts/lib"))
from compile_phases import (CODE, CONSTANTS, TEMPLATES, ReportError, clang_phases, gnu_phases, nvcc_steps,  # noqa: E402
                            room_of, step_name, time_report)
from compile_programs import Program, growing, programs  # noqa: E402

REPORT = """
Time variable                                   usr           sys          wall           GGC
 phase opt and generate             :   2.00 ( 50%)   0.20 ( 20%)   4.00 ( 50%)    20M ( 20%)
 |name lookup                       :   0.50 ( 12%)   0.10 ( 10%)   0.90 (  8%)   592  (  0%)
 template instantiation             :   1.00 ( 25%)   0.30 ( 30%)   2.00 ( 25%)    30M ( 30%)
 constant expression evaluation     :   0.50 ( 12%)   0.10 ( 10%)   1.00 ( 12%)  5000k (  5%)
 TOTAL                              :   4.00          1.00          8.00          100M
"""


def event(name, begin, duration, **more):
    return {"ph": "X", "tid": 1, "name": name, "ts": begin, "dur": duration, "args": more}


class CompilePhases(unittest.TestCase):
    def test_shares_of_gnu_are_of_user_time(self):
        phases = gnu_phases(REPORT)
        self.assertEqual({name: tuple(part) for name, part in phases.items()},
                         {CONSTANTS: (0.125, 5), TEMPLATES: (0.25, 30), CODE: (0.5, 20)})

    def test_bytes_have_units(self):
        self.assertEqual(time_report(REPORT)["|name lookup"], [0.5, 0.1, 0.9, 592])

    def test_no_report_is_an_error(self):
        self.assertRaises(ReportError, time_report, "program.cpp:1: error: no")

    def test_events_count_without_those_within_them(self):
        events = [event("ExecuteCompiler", 0, 100), event("Frontend", 0, 60),
                  event("InstantiateFunction", 10, 40, file="/x/include/parallax/ops/math/a.hpp"),
                  event("InstantiateClass", 10, 10, file="/usr/include/c++/12/tuple"),
                  event("EvaluateAsInitializer", 30, 5), event("Backend", 60, 40), event("InstantiatePass", 60, 10)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            path.write_text(json.dumps({"traceEvents": events, "beginningOfTime": 0}))
            phases, rooms = clang_phases(path, [(5e-6, 10), (25e-6, 50), (90e-6, 70)])
        self.assertEqual({name: tuple(part) for name, part in phases.items()},
                         {CONSTANTS: (0.05, 0), TEMPLATES: (0.35, 40), CODE: (0.4, 20)})
        self.assertEqual(rooms, {"ops": 0.25, "standard library": 0.1})

    def test_rooms_are_folders(self):
        for file, room in (("include/parallax/host/simd/a.hpp", "host"), ("/r/include/parallax/parallax.hpp", "the umbrella"),
                           ("/usr/lib/gcc/x/12/../../../../include/c++/12/tuple", "standard library"), ("/tmp/program.cpp", "the program")):
            self.assertEqual(room_of(file), room)

    def test_steps_of_nvcc_have_names(self):
        environment, commands = nvcc_steps('#$ CICC_PATH=/c/bin\n#$ gcc -E -x c++ a.cu -o a.ii \n#$ "$CICC_PATH/cicc" a.ii\n'
                                           "#$ rm a.fatbin\n#$ gcc -c -x c++ -O2 a.cudafe1.cpp -o a.o \n")
        self.assertEqual(environment, {"CICC_PATH": "/c/bin"})
        self.assertEqual([step_name(each) for each in commands], ["rest", "cicc", "host"])

    def test_headers_are_measured_by_the_librarys_includes(self):
        program = Program("x", "// x\n#include <parallax/parallax.hpp>\n\n#include <tuple>\n\nint x;\n")
        self.assertEqual(program.includes, "#include <parallax/parallax.hpp>\n")
        self.assertFalse(program.is_header_alone)
        self.assertTrue(Program("x", "// x\n#include <tuple>\n").is_header_alone)

    def test_names_of_programs_differ(self):
        names = [program.name for program in [*programs(), *growing()]]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
