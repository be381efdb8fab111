"""Tests of scripts/lib/pictures.py, by which scripts/gallery draws and compares pictures."""
import base64
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/lib"))
import pictures  # noqa: E402


def drawn(moved=0.0, pixel=0.0, word="a & b", colour=pictures.COLOURS[0]):
    picture = pictures.Picture(100, 80)
    axes = pictures.Axes(picture, 10, 10, 80, 60, (0, 1), (0, 1))
    axes.ticks((0, 1), (0, 1))
    axes.line([(0, 0), (1, 1)], colour)
    picture.dots([(20 + moved, 30), (-0.01, 5.04)], colour)
    picture.image(0, 0, 50, [[-1, 0.5], [pixel, 1]])
    picture.text(5, 5, word)
    return picture.svg()


class Pictures(unittest.TestCase):
    def test_same_numbers_make_the_same_bytes(self):
        self.assertEqual(drawn(), drawn())
        self.assertIsNone(pictures.difference(drawn(), drawn()))

    def test_a_picture_is_xml_without_needless_digits(self):
        xml.etree.ElementTree.fromstring(drawn())
        self.assertIn("M20 30h0M0 5h0", drawn())

    def test_last_digits_do_not_count(self):
        self.assertIsNone(pictures.difference(drawn(), drawn(moved=1.0, pixel=0.04)))

    def test_what_is_elsewhere_counts(self):
        self.assertIn("numbers differ by 2.0", pictures.difference(drawn(), drawn(moved=2.0)))
        self.assertIn("pixels differ by 30 levels", pictures.difference(drawn(), drawn(pixel=0.5)))

    def test_words_colours_and_what_is_missing_count(self):
        self.assertIn("a &amp; c", pictures.difference(drawn(), drawn(word="a & c")))
        self.assertIn(pictures.COLOURS[1], pictures.difference(drawn(), drawn(colour=pictures.COLOURS[1])))
        self.assertIsNotNone(pictures.difference(drawn() + "<!-- -->", drawn()))
        more = drawn().replace("M20 30h0", "M20 30h0M1 1h0")
        self.assertIn("other commands", pictures.difference(drawn(), more))

    def test_an_image_is_transparent_at_zero(self):
        head, levels = pictures.pixels_of(base64.b64encode(pictures.png([[-1, 0, 1]])))
        self.assertEqual(levels, bytes([0, 0, pictures.LEVELS, 2 * pictures.LEVELS]))
        opacity = head[head.index(b"tRNS") + 4:]
        self.assertEqual((opacity[0], opacity[pictures.LEVELS], opacity[2 * pictures.LEVELS]), (255, 0, 255))


if __name__ == "__main__":
    unittest.main()
