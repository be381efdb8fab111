"""scripts/kernel-resources compares with the last record: what is worse, and what is not there any more; and says kernels'
types as people would."""
import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
loader = importlib.machinery.SourceFileLoader("kernel_resources", str(SCRIPTS / "kernel-resources"))
kernel_resources = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(kernel_resources)

RECORD = """
| kernel | of | registers, and so on |
|---|---|---|
| rows | float32: load | 32 | 0 | 0 | 8 | 2048 | 16 | 4 | 64 | 40 | 0 | 0 | 6 | 1536 | 16 | 4 | 64 |
| columns | float32: load | 32 | 0 | 0 | 8 | 2048 | 16 | 4 | 64 | - | - | - | - | - | - | - | - |
"""


def record():
    return kernel_resources.record_of(RECORD)


class WorseTest(unittest.TestCase):
    def test_a_record_is_no_worse_than_itself(self):
        self.assertEqual([("rows", "float32: load"), ("columns", "float32: load")], list(record()))
        self.assertEqual([], kernel_resources.worse_than_record(record(), record()))

    def test_what_is_new_or_better_is_not_told(self):
        now = record()
        now["rows", "float32: load"]["sm_90"] = now["rows", "float32: load"]["sm_80"]
        now["columns", "float32: load"]["sm_90"] = now["rows", "float32: load"]["sm_80"]
        now["tiles", "float32: load"] = now["rows", "float32: load"]
        self.assertEqual([], kernel_resources.worse_than_record(record(), now))

    def test_fewer_bytes_under_way_are_worse(self):
        now = record()
        now["rows", "float32: load"]["sm_90"] = now["rows", "float32: load"]["sm_90"]._replace(bytes_under_way=32)
        found = kernel_resources.worse_than_record(record(), now)
        self.assertEqual(1, len(found))
        self.assertIn("rows of float32: load, sm_90: has 49152 bytes under way", found[0])

    def test_a_kernel_that_is_gone_is_told_and_so_is_one_of_an_architecture(self):
        now = record()
        del now["columns", "float32: load"]
        del now["rows", "float32: load"]["sm_80"]
        self.assertEqual(["rows of float32: load, sm_80: is not there any more",
                          "columns of float32: load, sm_80: is not there any more"],
                         kernel_resources.worse_than_record(record(), now))


LOADED = "parallax::compiled::load_statement<(parallax::compiled::statement_kind)1, (parallax::element_type)8, 1>"
SINE = "parallax::compiled::compute_statement<parallax::primitives::sin, (parallax::element_type)8, 0l, 0>"


def entry(kernel, *arguments):
    return f"void parallax::cuda::detail::entry<{', '.join([kernel, *arguments])}>({kernel}::arguments)"


class NamedTest(unittest.TestCase):
    def test_a_loop_is_its_operations(self):
        fused = ("parallax::compiled::kernel<(parallax::compiled::kernel_result)0, parallax::compiled::no_reduction, "
                 f"{LOADED}, {SINE}>")
        self.assertEqual(("elementwise", "float32: load, sin; 4 at a time"),
                         kernel_resources.named(entry(f"parallax::cuda::elementwise<{fused}, 4>")))

    def test_a_reduction_says_how_it_combines(self):
        fused = ("parallax::compiled::kernel<(parallax::compiled::kernel_result)2, parallax::primitives::reduce_max, "
                 f"{LOADED}, {SINE}, {SINE}>")
        self.assertEqual(("reduce_rows", "float32: load, 2 x sin; reduce_max"),
                         kernel_resources.named(entry(f"parallax::cuda::reduce_rows<{fused} >")))

    def test_other_kernels_are_what_they_are_made_of(self):
        self.assertEqual(("combine_pieces", "reduce_sum, float, false"),
                         kernel_resources.named(entry("parallax::cuda::combine_pieces<parallax::primitives::reduce_sum,"
                                                      " float, false>")))


if __name__ == "__main__":
    unittest.main()
