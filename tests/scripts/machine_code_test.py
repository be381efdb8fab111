"""scripts/lib/machine_code.py on short texts whose loads can be counted by eye. The multiprocessor's numbers are those
of the tables of CUDA's programming guide ("Technical Specifications per Compute Capability")."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/lib"))
import machine_code  # noqa: E402


def code(*instructions):
    return [line if line.startswith(".L") else f"        /*{16 * i:04x}*/       {line} ;" for i, line in enumerate(instructions)]


def loads(*instructions):
    return tuple(machine_code.loads_of(code(*instructions)))


class LoadsTest(unittest.TestCase):
    def test_loads_before_the_first_use(self):
        self.assertEqual((16, 2, 32), loads("LDG.E.128 R4, desc[UR6][R2.64]", "LDG.E.128 R8, desc[UR6][R2.64+0x800]",
                                            "FADD R4, R4, R8", "LDG.E.128 R12, desc[UR6][R2.64]"))

    def test_each_use_ends_a_run(self):
        self.assertEqual((16, 1, 16), loads("LDG.E.128 R4, [R2.64]", "FADD R20, R20, R7", "LDG.E.128 R4, [R2.64]",
                                            "FADD R20, R20, R7"))

    def test_every_register_of_a_vector_counts(self):
        self.assertEqual((8, 1, 8), loads("LDG.E.64 R4, [R2.64]", "FADD R20, R20, R5", "LDG.E.64 R6, [R2.64]"))
        self.assertEqual((8, 2, 16), loads("LDG.E.64 R4, [R2.64]", "FADD R20, R20, R6", "LDG.E.64 R8, [R2.64]"))

    def test_an_address_that_was_loaded_is_a_use(self):
        self.assertEqual((8, 1, 8), loads("LDG.E.64 R4, [R2.64]", "LDG.E R6, [R4.64]"))
        self.assertEqual((8, 1, 8), loads("LDG.E.64 R4, [R2.64]", "LDG.E R6, [R3.64]"))

    def test_what_is_stored_is_a_use(self):
        self.assertEqual((4, 1, 4), loads("LDG.E R4, [R2.64]", "STG.E [R8.64], R4", "LDG.E R5, [R2.64]"))

    def test_a_result_is_no_use(self):
        self.assertEqual((4, 2, 8), loads("LDG.E R4, [R2.64]", "MOV R4, R9", "LDG.E R5, [R2.64]"))

    def test_labels_and_branches_end_straight_code(self):
        for between in (".L_x_3:", "@P0 BRA `(.L_x_3)", "BSYNC B0", "CALL.REL.NOINC `(div)", "BAR.SYNC 0x0"):
            self.assertEqual((4, 1, 4), loads("LDG.E R4, [R2.64]", between, "LDG.E R5, [R2.64]"), between)

    def test_of_two_ways_one_counts(self):
        self.assertEqual((16, 3, 34), loads("LDG.E.U16 R4, [R2.64]", "@!P0 LDG.E.128 R8, [R2.64]", "@P0 LDG.E R12, [R2.64]",
                                            "@P0 LDG.E R13, [R2.64]", "@!P0 LDG.E.128 R16, [R2.64]"))
        self.assertEqual((4, 2, 8), loads("@P0 LDG.E R4, [R2.64]", "@!P0 LDG.E R4, [R2.64]", "@P0 LDG.E R5, [R2.64]"))

    def test_of_as_many_bytes_few_loads_count(self):
        self.assertEqual((8, 1, 8), loads("@P0 LDG.E R4, [R2.64]", "@P0 LDG.E R5, [R2.64]", "@!P0 LDG.E.64 R4, [R2.64]",
                                          ".L_x_1:", "LDG.E R4, [R2.64]", "LDG.E R5, [R2.64]"))

    def test_a_use_under_a_predicate_is_one(self):
        self.assertEqual((4, 1, 4), loads("LDG.E R4, [R2.64]", "@P1 IADD3 R9, R4, R9, RZ", "LDG.E R5, [R2.64]"))

    def test_the_run_of_most_bytes_counts(self):
        self.assertEqual((16, 1, 16), loads("LDG.E.U8 R4, [R2.64]", "LDG.E.U8 R5, [R2.64]", ".L_x_1:",
                                            "LDG.E.128 R4, [R2.64]"))

    def test_shared_memory_is_not_counted(self):
        self.assertEqual((0, 0, 0), loads("LDS.128 R4, [R2]", "LDC.64 R8, c[0x0][0x210]"))


class KernelsTest(unittest.TestCase):
    def test_sections(self):
        text = "\n".join(['\t.section\t.nv.info._Z1f,"",@"SHT_CUDA_INFO"', "\t//----- nvinfo : EIATTR_CRS_STACK_SIZE",
                          "        /*0034*/ \t.word\t0x00000007", "\t//----- nvinfo : EIATTR_MAX_THREADS",
                          "        /*0034*/ \t.word\t0x00000100", "        /*0038*/ \t.word\t0x00000001",
                          '\t.section\t.text._Z1f,"ax",@progbits', *code("LDG.E R4, [R2.64]", "EXIT"),
                          '\t.section\t.text._Z1g,"ax",@progbits', *code("EXIT"), '\t.section\t.debug,""', "nothing"])
        found = machine_code.kernels_of(text)
        self.assertEqual(["_Z1f", "_Z1g"], sorted(found))
        self.assertEqual(256, found["_Z1f"].most_threads)
        self.assertEqual(1024, found["_Z1g"].most_threads)
        self.assertEqual(machine_code.Loads(4, 1, 4), machine_code.loads_of(found["_Z1f"].lines))
        self.assertEqual(machine_code.Loads(), machine_code.loads_of(found["_Z1g"].lines))

    def test_blocks(self):
        self.assertEqual(8, machine_code.blocks_of("sm_90", 32, 0, 256))
        self.assertEqual(6, machine_code.blocks_of("sm_90", 33, 0, 256))      # 40 are given: 51 warps, of which 48
        self.assertEqual(1, machine_code.blocks_of("sm_90", 65, 0, 512))      # 72 are given: 28 warps
        self.assertEqual(2, machine_code.blocks_of("sm_90", 64, 0, 512))
        self.assertEqual(32, machine_code.blocks_of("sm_80", 16, 0, 32))
        self.assertEqual(4, machine_code.blocks_of("sm_90", 32, 48 * 1024, 256))
        self.assertEqual(3, machine_code.blocks_of("sm_80", 32, 48 * 1024, 256))


if __name__ == "__main__":
    unittest.main()
