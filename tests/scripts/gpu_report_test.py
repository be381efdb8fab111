"""scripts/gpu-report on reports that are short enough to say by eye what follows from them."""
import importlib.util
import json
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]


def load(path):
    loader = SourceFileLoader(path.stem.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


gpu_report = load(ROOT / "scripts/gpu-report")
sys.path.insert(0, str(ROOT / "bench"))
import gpu_peer_cases  # noqa: E402


def measured(case, who, median, **more):
    return {"stage": "rows", "case": case, "who": who, "minimum_us": 0.9 * median, "median_us": median, "p90_us": 1.5 * median,
            "samples": 30, "unit": "GB/s", "value": 1e6 / median, **more}


AIMS = [{"of": "copy bandwidth", "at_least": 0.9}, {"of": "torch.compile", "at_least": 1}]


class GpuReportTest(unittest.TestCase):
    def case(self, *lines):
        case = gpu_report.Case("softmax")
        for line in lines:
            case.add(line)
        return case

    def reached(self, *lines):
        return [reached for _, reached in self.case(*lines).aims()]

    def test_aims_are_parts_of_others_speed(self):
        ours = measured("softmax", "parallax", 100, aims=AIMS)
        self.assertEqual([True, True], self.reached(ours, measured("softmax", "copy bandwidth", 90),
                                                    measured("softmax", "torch.compile", 100)))
        self.assertEqual([False, False], self.reached(ours, measured("softmax", "copy bandwidth", 89),
                                                      measured("softmax", "torch.compile", 99)))
        self.assertEqual([None, None], self.reached(ours))

    def test_the_order_of_lines_does_not_matter(self):
        limit, ours = measured("softmax", "copy bandwidth", 50), measured("softmax", "parallax", 100, aims=AIMS)
        self.assertEqual(self.case(limit, ours).row(), self.case(ours, limit).row())
        self.assertEqual("0.50 of copy bandwidth", self.case(limit, ours).row()[2])

    def test_other_results_are_no_measurements(self):
        ours = measured("block", "parallax", 1, digest=1.0)
        self.assertEqual([], list(self.case(ours, measured("block", "JAX", 1, digest=1.019)).other_results()))
        self.assertEqual(["JAX"], list(self.case(ours, measured("block", "JAX", 1, digest=1.03)).other_results()))
        self.assertEqual(["JAX"], list(self.case(ours, measured("block", "JAX", 1, digest=float("nan"))).other_results()))
        text, well = gpu_report.report([ours, measured("block", "JAX", 1, digest=2.0)])
        self.assertFalse(well)
        self.assertIn("JAX FINDS SOMETHING ELSE", text)

    def test_what_went_wrong_is_said(self):
        lines = [{"stage": "checks", "check": "a", "outcome": "passed", "seconds": 1},
                 {"stage": "checks", "check": "b", "outcome": "failed", "message": "3 is not 4"},
                 {"stage": "rows", "case": "softmax", "who": "parallax", "failure": "out of memory"},
                 {"stage": "rows", "outcome": "stopped after 45 s", "seconds": 45}]
        text, well = gpu_report.report(lines)
        self.assertFalse(well)
        for said in ("check b: 3 is not 4", "parallax: out of memory", "rows: stopped after 45 s", "2 checks, 1 failed"):
            self.assertIn(said, text)

    def test_where_all_is_well(self):
        text, well = gpu_report.report([measured("softmax", "parallax", 100, aims=AIMS), measured("softmax", "copy bandwidth", 80),
                                        {"stage": "rows", "outcome": "passed", "seconds": 3},
                                        {"stage": "jax", "outcome": "skipped: it is not installed", "seconds": 0}])
        self.assertTrue(well)  # an aim that is missed is no failure
        self.assertIn("missed: softmax: 0.80 of copy bandwidth, 0.9 is wanted", text)
        self.assertIn("0 aims reached, 1 missed, 1 with nothing to compare with", text)

    def test_half_a_line_is_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.jsonl"
            path.write_text('{"stage": "rows", "case": "sof\n' + json.dumps({"stage": "rows", "outcome": "failed"}) + "\n")
            self.assertEqual([{"stage": "rows", "outcome": "failed"}], list(gpu_report.lines_of(path)))


class ProfileTest(unittest.TestCase):
    def test_kernels_stand_under_the_case_that_was_marked(self):
        counters = list(gpu_report.COUNTERS)
        head = ["ID", "Kernel Name", "Block Size", "Grid Size", *counters]
        rows = [head, ["", "", "block", "grid", "usecond", "register/thread", "%", "%", "%", "inst"],
                ["0", "void cuda::entry<bench::fill_kernel<float>>(T1::arguments)", "(32, 1, 1)", "(2, 1, 1)", *"123456"],
                ["1", "void cuda::entry<parallax::cuda::held_rows<kernel<1, 2>>>(T1::arguments)", "(256, 1, 1)", "(99, 1, 1)", "12.5", "64", "80.1", "60", "49", "7"],
                ["2", "void cuda::entry<bench::fill_kernel<float>>(T1::arguments)", "(32, 1, 1)", "(1, 1, 1)", *"123456"],
                ["3", "cutlass_sum(float *)", "(256, 1, 1)", "(99, 1, 1)", "1", "2", "3", "4", "5", "6"]]
        text = "==PROF== Connected\n" + "\n".join(",".join(f'"{field}"' for field in row) for row in rows)
        self.assertEqual([["softmax", "held_rows", "12.5 usecond", "64", "80.1", "60", "49", "7"],
                          ["sum", "cutlass_sum", "1 usecond", "2", "3", "4", "5", "6"]],
                         gpu_report.profile_of(text, {1: "sum", 2: "softmax"}))
        self.assertEqual([], gpu_report.profile_of("==ERROR== no permission\n", {}))


class GpuPeersTest(unittest.TestCase):
    def test_every_case_is_there_once_and_has_arguments(self):
        cases = gpu_peer_cases.all_cases()
        self.assertEqual(len(cases), len({case.name for case in cases}))
        for case in cases:
            if case.kind not in ("SGD", "Adam", "block"):
                self.assertTrue(all(shape and min(shape) > 0 for shape in gpu_peer_cases.shapes_of(case)), case.name)

    def test_times(self):
        times = gpu_peer_cases.times_of([k * 1e-6 for k in (5, 1, 2, 3, 4, 6, 7, 8, 10, 9)])
        self.assertEqual((1, 5, 10, 10), (round(times.minimum), round(times.median), round(times.p90), times.samples))


if __name__ == "__main__":
    unittest.main()
