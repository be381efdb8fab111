"""scripts/lib/pages.py finds the programs of a page, and compares what they print with what it says."""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/lib"))
import pages  # noqa: E402

PAGE = """# Title
```cpp
int main() {}
```
<!-- cpp
void f() {
-->
```text
2.5
```
1. In a list:
   ```cpp
   g();
   ```
<!-- cpp
}
-->
```cpp
int main() { return 1; }
```
```sh
./program
```
"""


class ProgramsTest(unittest.TestCase):
    def test_a_main_function_makes_a_program_and_the_rest_is_joined(self):
        first, second, joined = pages.programs_of("page.md", PAGE)
        self.assertEqual((3, "2.5\n", 9), (first.line, first.output.code, first.output.line))
        self.assertEqual('#line 3 "page.md"\nint main() {}\n', first.code)
        self.assertIsNone(second.output)
        self.assertEqual('#line 6 "page.md"\nvoid f() {\n#line 13 "page.md"\ng();\n#line 16 "page.md"\n}\n', joined.code)

    def test_a_main_function_with_arguments_is_joined(self):
        (joined,) = pages.programs_of("page.md", "```cpp\nvoid f();\n```\n```cpp\nint main(int argc, char** argv) {}\n```\n")
        self.assertFalse(joined.whole)
        self.assertEqual('#line 2 "page.md"\nvoid f();\n#line 5 "page.md"\nint main(int argc, char** argv) {}\n', joined.code)

    def test_programs_of_a_page_are_one_for_compilers_that_read_them_only(self):
        text = "```cpp\n#include <a>\nint main() {}\n```\n```cpp\n#include <a>\n#include <b>\nint main() {}\n```\n"
        (joined,) = pages.together(pages.programs_of("page.md", text))
        self.assertEqual('#include <a>\n#include <b>\n'
                         'namespace page_md_2 {\n#line 2 "page.md"\n\nauto main() {}\n}\n'
                         'namespace page_md_6 {\n#line 6 "page.md"\n\n\nauto main() {}\n}\n', joined.code)
        self.assertFalse(joined.whole)

    def test_a_fence_without_an_end_or_a_language_is_refused(self):
        for text in ("```cpp\nf();\n", "```\ntext\n```\n", "<!-- cpp\nf();\n", "```c++\nf();\n```\n"):
            with self.assertRaises(pages.PageError):
                pages.programs_of("page.md", text)


class OutputTest(unittest.TestCase):
    def test_numbers_may_differ_by_one_in_a_thousand(self):
        self.assertIsNone(pages.first_difference("loss 0.5000\n[-1. 2e-3]\n", "loss 0.5004\n[-1. 0.002]"))
        self.assertIsNone(pages.first_difference("[[ 1. -2.]", "[[ 0.9999999 -2.       ]"))
        self.assertEqual((0, "loss 0.50", "loss 0.51"), pages.first_difference("loss 0.50", "loss 0.51"))

    def test_whole_numbers_and_texts_are_the_same(self):
        self.assertEqual((0, "1000", "1001"), pages.first_difference("1000", "1001"))
        self.assertEqual((1, "float32[3]", "float64[3]"), pages.first_difference("a\nfloat32[3]", "a\nfloat64[3]"))

    def test_no_line_is_missing_or_more(self):
        self.assertEqual((1, "b", None), pages.first_difference("a\nb", "a\n"))
        self.assertEqual((1, None, "b"), pages.first_difference("a", "a\nb\n"))


if __name__ == "__main__":
    unittest.main()
