"""scripts/kernel-resources compares with the last record: what is worse, and what is not there any more; and says kernels'
types as people would."""
import importlib.machinery
import importlib.util
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
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


LOADED = "compiled::load_statement<(compiled::statement_kind)1, (element_type)8, 1>"
SINE = "compiled::compute_statement<primitives::sin, (element_type)8, 0l, 0>"
NAMESPACE = re.compile(r"(?<!::)\b(?=(?:compiled|primitives|cuda|element_type)\b)")


def named(kernel):
    """Of an entry whose name is as CUDA's tools print it, in the namespace of a version."""
    whole = f"void cuda::detail::entry<{kernel}>({kernel}::arguments)"
    return kernel_resources.named(NAMESPACE.sub("parallax::v0_2::", whole))


class NamedTest(unittest.TestCase):
    def test_a_loop_is_its_operations(self):
        fused = f"compiled::kernel<(compiled::kernel_result)0, compiled::no_reduction, {LOADED}, {SINE}>"
        self.assertEqual(("elementwise", "float32: load, sin; 4 at a time"), named(f"cuda::elementwise<{fused}, 4>"))

    def test_a_reduction_says_how_it_combines(self):
        fused = f"compiled::kernel<(compiled::kernel_result)2, primitives::reduce_max, {LOADED}, {SINE}, {SINE}>"
        self.assertEqual(("reduce_rows", "float32: load, 2 x sin; reduce_max"), named(f"cuda::reduce_rows<{fused} >"))

    def test_other_kernels_are_what_they_are_made_of(self):
        self.assertEqual(("combine_pieces", "reduce_sum, float, false"),
                         named("cuda::combine_pieces<primitives::reduce_sum, float, false>"))


if __name__ == "__main__":
    unittest.main()
