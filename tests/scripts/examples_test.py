"""scripts/lib/examples.py reads examples, says what their form lacks, and joins them into one program."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
import examples  # noqa: E402

EXAMPLE = """// keepdims, keepdims_t
#include <parallax/io/save.hpp>
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr int two = 2;

int main() {
  std::cout << plx::keepdims << two;
}
// [[1.]
//  [2.]]
"""


class ExamplesTest(unittest.TestCase):
    def read(self, text, name="keepdims.cpp"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_text(text)
            return examples.read(Path(folder), path)

    def refused(self, text, name="keepdims.cpp"):
        with self.assertRaises(examples.ExampleError) as caught:
            self.read(text, name)
        return str(caught.exception)

    def test_names_code_and_output_are_read(self):
        example = self.read(EXAMPLE)
        self.assertEqual(["keepdims", "keepdims_t"], example.names)
        self.assertEqual(("[[1.]\n [2.]]\n", 14), (example.output, example.output_line))

    def test_a_page_leaves_out_what_most_programs_begin_with(self):
        code = self.read(EXAMPLE).page_code
        self.assertTrue(code.startswith("#include <parallax/io/save.hpp>\n\nconstexpr int two = 2;\n\nint main() {\n"), code)

    def test_main_may_be_one_line(self):
        text = "// max_rank\n#include <iostream>\n\nint main() { std::cout << plx::max_rank; }\n// 8\n"
        self.assertEqual(5, self.read(text, "max_rank.cpp").output_line)

    def test_what_the_form_lacks_is_said_with_its_line(self):
        self.assertIn("keepdims.cpp:1: the first line", self.refused("#include <iostream>\n"))
        self.assertIn("axis.cpp:1: the file of the first name", self.refused(EXAMPLE, "axis.cpp"))
        self.assertIn("keepdims.cpp:1: axis does not occur", self.refused(EXAMPLE.replace("keepdims_t", "axis")))
        self.assertIn("keepdims.cpp:13: nothing is printed", self.refused(EXAMPLE.split("// [[")[0]))
        self.assertIn("keepdims.cpp:16: behind main", self.refused(EXAMPLE + "[3.]\n"))
        self.assertIn("no macros", self.refused(EXAMPLE.replace("constexpr int", "#define X\nconstexpr int")))

    def test_operators_occur_by_their_signs(self):
        self.assertTrue(examples.is_used("operator+", "x + y"))
        self.assertFalse(examples.is_used("operator+", "x += y"))
        self.assertFalse(examples.is_used("operator<", "std::cout << x"))
        self.assertFalse(examples.is_used("operator!", "x != y"))

    def test_joined_examples_have_namespaces_and_common_includes(self):
        example = self.read(EXAMPLE)
        code = examples.joined([example, example])
        self.assertEqual(1, code.count("#include <parallax/io/save.hpp>"))
        self.assertIn('namespace example_1 {\n#line 2 "keepdims.cpp"\n', code)
        self.assertEqual(2, code.count("void example() {"))

    def test_outputs_are_told_apart(self):
        self.assertEqual(["a\n", "b\nc\n", None], examples.outputs_of("\x1e0\na\n\x1e1\nb\nc\n", 3))

    def test_batches_have_all_examples_once(self):
        parts = examples.batches(list(range(60)), 25)
        self.assertEqual([20, 20, 20], [len(part) for part in parts])
        self.assertEqual(list(range(60)), sorted(sum(parts, [])))


if __name__ == "__main__":
    unittest.main()
