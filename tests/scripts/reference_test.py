"""scripts/lib/parts.py finds the primitives of operations, rules.py says their rules, forms.py shows signatures without internals."""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
from entries import Headers, paragraphs  # noqa: E402
from forms import form_of, forms_of, shown  # noqa: E402

HEADERS = Headers(ROOT)


def declared(name):
    return HEADERS.names["parallax", name]


def rules(name):
    said = declared(name)
    return HEADERS.primitives.line(name, [each.tokens for each in said], said[0].header)


class Rules(unittest.TestCase):
    def test_parts_are_found_through_functions(self):
        found = HEADERS.primitives.parts.of([each.tokens for each in declared("softmax")])
        self.assertLessEqual({"exp", "reduce_max", "reduce_sum", "as_softmax", "stop_gradient"}, found)
        self.assertIn("all_to_all", HEADERS.primitives.parts.of([each.tokens for each in declared("pswapaxes")]))

    def test_weakest_part_counts(self):
        self.assertEqual(rules("var"), "Derivatives: forward and backward. Batches: yes. Backends: host, CUDA.")
        self.assertTrue(rules("pmax").startswith("Derivatives: none (as in JAX"))
        self.assertTrue(rules("while_loop").startswith("Derivatives: forward; backward none (nothing says"))

    def test_a_primitive_on_one_backend_shows(self):
        primitives = HEADERS.primitives
        whole = primitives.folders["cuda"]
        primitives.folders["cuda"] = whole.replace("kernel_result::sorted", "")
        try:
            self.assertTrue(rules("sort").endswith("Backends: host."))
        finally:
            primitives.folders["cuda"] = whole

    def test_a_zero_derivative_without_a_reason_is_no_line(self):
        said = declared("sign")
        self.assertIsNone(HEADERS.primitives.line("sign_by_another_name", [[]], "parallax/core/x.hpp"))
        self.assertIn("constant", HEADERS.primitives.line("sign", [said[0].tokens], said[0].header))


class Forms(unittest.TestCase):
    def test_parameters_have_kinds(self):
        text = "template <int... Axes> static constexpr tracer apply(context&, tracer x, axis_t<Axes...>, keepdims_t)"
        self.assertEqual(form_of("sum", text, True), "sum(array x, axis<Axes...>, keepdims)")
        text = "template <std::size_t N> constexpr tracer operator()(tracer x, const extent (&shape)[N]) const"
        self.assertEqual(form_of("reshape", text, False), "reshape(traced x, {extents...} shape)")

    def test_traced_form_of_an_array_form_is_left_out(self):
        members = [("operator()", "constexpr tracer operator()(tracer x, any_axis axis) const", ""),
                   ("apply", "static tracer apply(context&, tracer x, int axis)", "")]
        self.assertEqual(list(forms_of("f", members)), ["f(array x, int axis)"])

    def test_internals_are_not_shown(self):
        self.assertEqual(shown("template <detail::fixed_string... Names> tracer f(tracer x, detail::any_axis axis = 0)"),
                         "template <string... Names> tracer f(tracer x, int axis = 0)")
        self.assertIsNone(shown("template <class T> T psum(const T& x, detail::name_argument) noexcept(detail::refuse_name<T>())"))
        self.assertIsNone(shown("void f(detail::context& trace)"))

    def test_enumerators_are_shown(self):
        self.assertEqual(declared("backend")[0].text, "enum class backend { host, cuda }")

    def test_overloads_have_the_comment_of_the_one_before(self):
        members = HEADERS.members_of("random_generator")
        self.assertEqual({comment for name, _, comment in members if name == "normal"}, {"Standard normal."})
        self.assertGreater(len([name for name, *_ in members if name == "normal"]), 1)

    def test_source_stands_in_a_line_of_its_own(self):
        self.assertEqual(paragraphs("The sum. JAX: numpy.sum"), "The sum.\n\nJAX: `numpy.sum`")
        self.assertEqual(paragraphs("One. JAX: lax.f, which keeps it"), "One.\n\nJAX: `lax.f`, which keeps it")


if __name__ == "__main__":
    unittest.main()
