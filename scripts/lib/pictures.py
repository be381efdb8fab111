"""Pictures as SVG: lines, points, squares and images in colours that show on light and on dark pages, without a background.
The same numbers make the same bytes. Two pictures are compared by what they show: numbers of paths to `NEAR` units,
pixels to `NEAR_LEVEL` levels."""
import base64
import re
import struct
import zlib

TEXT, FRAME = "#7d8590", "#7d859080"
COLOURS = ["#3b82c4", "#d9822b", "#3a9d5d", "#cf4f4f", "#8f6fc8", "#2a9d9d", "#c9609c", "#a8892c"]
NEAR, NEAR_LEVEL = 1.5, 3
LEVELS = 60  # of an image's values, on each side of 0


def number(value):
    text = f"{value:.1f}"
    return "0" if text in ("0.0", "-0.0") else text.removesuffix(".0")


class Picture:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def text(self, x, y, words, anchor="middle", colour=TEXT):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}" fill="{colour}">{words}</text>')

    def path(self, commands, colour, width=2.0, dashes="", fill="none"):
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<path d="{commands}" fill="{fill}" stroke="{colour}" stroke-width="{number(width)}"{dashed}/>')

    def line(self, points, colour, width=2.0, dashes=""):
        self.path("M" + " ".join(f"{number(x)} {number(y)}" for x, y in points), colour, width, dashes)

    def dots(self, points, colour, size=3.0):
        """Lines without a length, whose round ends are the dots."""
        self.path("".join(f"M{number(x)} {number(y)}h0" for x, y in points), colour, size)

    def crosses(self, points, colour, arm=8):
        self.path("".join(f"M{number(x - arm)} {number(y - arm)}l{2 * arm} {2 * arm}m0 {-2 * arm}l{-2 * arm} {2 * arm}"
                          for x, y in points), colour, 3.5)

    def squares(self, corners, side, colour, opacity=1.0):
        path = "".join(f"M{number(x)} {number(y)}h{number(side)}v{number(side)}h{number(-side)}z" for x, y in corners)
        self.parts.append(f'<path d="{path}" fill="{colour}" fill-opacity="{opacity:g}"/>')

    def image(self, x, y, size, rows):
        """Numbers from -1 to 1 as pixels: orange below 0, blue above, and the page's colour at 0."""
        self.parts.append(f'<image x="{number(x)}" y="{number(y)}" width="{number(size)}" height="{number(size)}" '
                          f'image-rendering="pixelated" href="data:image/png;base64,{base64.b64encode(png(rows)).decode()}"/>')

    def svg(self):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" font-family="sans-serif" font-size="12" '
                'stroke-linecap="round" stroke-linejoin="round">')
        return "\n".join([head, *self.parts, "</svg>", ""])


class Axes:
    """A frame of a picture with numbers along two of its sides, that says where a point of data lies."""

    def __init__(self, picture, left, top, width, height, across, up):
        self.picture, self.left, self.top, self.width, self.height = picture, left, top, width, height
        self.across, self.up = across, up  # (first, last) of each
        picture.path(f"M{left} {top}v{height}h{width}", FRAME, 1)

    def at(self, x, y):
        share = (x - self.across[0]) / (self.across[1] - self.across[0])
        rise = (y - self.up[0]) / (self.up[1] - self.up[0])
        return self.left + share * self.width, self.top + (1 - rise) * self.height

    def ticks(self, across, up, named=str):
        for x in across:
            self.picture.text(self.at(x, 0)[0], self.top + self.height + 17, named(x))
        for y in up:
            height = self.at(0, y)[1]
            self.picture.text(self.left - 7, height + 4, named(y), "end")
            self.picture.path(f"M{self.left} {number(height)}h{self.width}", FRAME, 0.3)

    def names(self, across, up):
        self.picture.text(self.left + self.width / 2, self.top + self.height + 36, across)
        self.picture.text(self.left, self.top - 10, up, "start")

    def line(self, points, colour, width=2.0, dashes=""):
        self.picture.line([self.at(x, y) for x, y in points], colour, width, dashes)


def png(rows):
    """An indexed image of numbers from -1 to 1: index LEVELS is 0 and transparent, and colours grow denser to both sides."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    palette, opacity = b"", b""
    for level in range(2 * LEVELS + 1):
        palette += bytes.fromhex((COLOURS[1] if level < LEVELS else COLOURS[0])[1:])
        opacity += bytes([round(255 * abs(level - LEVELS) / LEVELS)])
    raw = b"".join(b"\0" + bytes(LEVELS + round(LEVELS * max(-1, min(1, value))) for value in row) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", palette) + chunk(b"tRNS", opacity) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def pixels_of(encoded):
    """The levels of an image that `png` made, and what stands before them in the file."""
    data = base64.b64decode(encoded)
    begin = data.index(b"IDAT")
    length, = struct.unpack(">I", data[begin - 4:begin])
    return data[:begin - 4], zlib.decompress(data[begin + 4:begin + 4 + length])


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
LOOSE = re.compile(r' d="([^"]*)"|base64,([^"]*)"')


def difference(committed, made):
    """What is first found to differ in the second of two pictures, or None."""
    for line, (old, new) in enumerate(zip(committed.splitlines(), made.splitlines()), 1):
        if LOOSE.sub("", old) != LOOSE.sub("", new):
            return f"line {line}: {old[:100]}\n  is now {new[:100]}"
        for before, after in zip(LOOSE.finditer(old), LOOSE.finditer(new)):
            if before[2] is not None:
                (head, levels), (new_head, new_levels) = pixels_of(before[2]), pixels_of(after[2])
                if head != new_head or len(levels) != len(new_levels):
                    return f"line {line}: the image has other measures or colours"
                apart = max(abs(a - b) for a, b in zip(levels, new_levels))
                if apart > NEAR_LEVEL:
                    return f"line {line}: pixels differ by {apart} levels of {LEVELS}"
            else:
                if NUMBER.sub("", before[1]) != NUMBER.sub("", after[1]):
                    return f"line {line}: the path has other commands"
                pairs = zip(NUMBER.findall(before[1]), NUMBER.findall(after[1]))
                apart = max((abs(float(a) - float(b)) for a, b in pairs), default=0)
                if apart > NEAR:
                    return f"line {line}: a path's numbers differ by {apart:.1f}"
    if len(committed.splitlines()) != len(made.splitlines()):
        return "one has more lines"
    return None
