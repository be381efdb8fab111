"""The pictures of docs/gallery.md, one for each example named there, drawn from what the example prints or writes to the file that
its argument names.

Usage: gallery.py PROGRAMS [--check] [name...]      PROGRAMS is the folder of the built examples; --names prints the names
"""
import csv
import math
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/lib"))
from compiling import run  # noqa: E402
from pictures import COLOURS, FRAME, TEXT, Axes, Picture, difference  # noqa: E402

FOLDER = ROOT / "docs/gallery"
LARGEST = 40_000  # bytes


def wave_equation(printed, rows):
    size = 360
    largest = max(abs(value) for row in rows for value in row)
    picture = Picture(size + 2, size + 2)
    picture.image(1, 1, size, [[value / largest for value in row] for row in rows])
    down, across = map(int, re.search(r"^(\d+) x (\d+) devices: ", printed, flags=re.M).groups())
    for i in range(down + 1):
        picture.path(f"M1 {1 + i * size // down}h{size}", TEXT, 1, "" if i in (0, down) else "4 4")
    for i in range(across + 1):
        picture.path(f"M{1 + i * size // across} 1v{size}", TEXT, 1, "" if i in (0, across) else "4 4")
    return picture


def pmap_cookbook(printed, _):
    lines = re.search(r"^> rule_30\(8, 20\)\n((?:[ *]{40}\|\n)+)", printed, flags=re.M)[1].splitlines()
    side, devices = 15, 8
    picture = Picture(40 * side + 2, len(lines) * side + 26)
    own = 40 // devices
    for device in range(devices):
        cells = [(1 + column * side, 22 + row * side) for row, line in enumerate(lines)
                 for column in range(device * own, (device + 1) * own) if line[column] == "*"]
        picture.squares(cells, side, COLOURS[device % 2])
        picture.text(1 + (device + 0.5) * own * side, 13, f"device {device}")
    for device in range(devices + 1):
        picture.path(f"M{1 + device * own * side} 4V{22 + len(lines) * side}", FRAME, 1)
    return picture


def hamiltonian_monte_carlo(printed, rows):
    covariance = {(int(i), int(j)): float(value) for i, j, value in
                  re.findall(r"covariance (\d), (\d) .* exactly (.*)", printed)}
    mean = {int(i): float(value) for i, value in re.findall(r"mean (\d) .* exactly (.*)", printed)}
    picture = Picture(640, 400)
    axes = Axes(picture, 40, 24, 590, 320, (-4.5, 6.5), (-5.5, 1.5))
    axes.ticks(range(-4, 7, 2), range(-5, 2))
    axes.names("first coordinate", "second coordinate")
    for device in range(8):
        drawn = [row for row in rows if row[0] == device][::4]
        picture.dots([axes.at(x, y) for _, x, y, _ in drawn], COLOURS[device], 3.5)
    # ellipses of the exact distribution: its covariance is the square of a triangle of numbers
    wide = math.sqrt(covariance[0, 0])
    slope = covariance[1, 0] / wide
    rest = math.sqrt(covariance[1, 1] - slope * slope)
    for deviations in (1, 2):
        turns = [2 * math.pi * k / 90 for k in range(91)]
        axes.line([(mean[0] + deviations * wide * math.cos(turn),
                    mean[1] + deviations * (slope * math.cos(turn) + rest * math.sin(turn))) for turn in turns], TEXT, 2)
    return picture


def k_means(_, rows):
    centres, points = rows[:8], rows[8::19]  # the clusters take turns, eight by eight
    picture = Picture(640, 400)
    low, high = ([of(row[1 + k] for row in points) for k in range(3)] for of in (min, max))
    axes = Axes(picture, 40, 24, 590, 320, (math.floor(low[0]), math.ceil(high[0])), (math.floor(low[1]), math.ceil(high[1])))
    axes.ticks(*([value for value in range(-20, 21, 5) if low[k] < value < high[k]] for k in range(2)))
    axes.names("first coordinate", "second coordinate")
    for cluster in range(8):
        picture.dots([axes.at(*row[1:3]) for row in points if row[0] == cluster], COLOURS[cluster], 3.5)
    picture.crosses([axes.at(*row[1:3]) for row in centres], TEXT)
    return picture


def inverse_problem(_, rows):
    picture = Picture(640, 340)
    axes = Axes(picture, 40, 24, 450, 260, (0, len(rows[0]) - 2), (0, 2))
    axes.ticks(range(0, 65, 16), (0, 0.5, 1, 1.5, 2))
    axes.names("place along the rod", "conductivity")
    names = {-1: "true", 10: "after 10 steps", 50: "after 50 steps", 800: "after 800 steps"}
    looks = {-1: (TEXT, 5, ""), 10: (COLOURS[1], 2, "2 5"), 50: (COLOURS[1], 2, "7 5"), 800: (COLOURS[0], 2, "")}
    for i, (step, *logarithms) in enumerate(rows):
        axes.line(list(enumerate(map(math.exp, logarithms))), *looks[step])
        picture.line([(505, 60 + 24 * i), (530, 60 + 24 * i)], *looks[step])
        picture.text(538, 64 + 24 * i, names[step], "start")
    return picture


def character_network(printed, rows):
    letters, pairs = map(float, re.search(r"; (\S+) of the letters' frequencies, (\S+) of those behind", printed).groups())
    picture = Picture(640, 340)
    axes = Axes(picture, 40, 24, 430, 260, (0, 600), (0, 5))
    axes.ticks(range(0, 601, 100), range(6))
    axes.names("step", "nats for a character")
    for value, words in ((letters, "counts of letters"), (pairs, "counts of pairs of letters")):
        axes.line([(0, value), (600, value)], TEXT, 1.5, "6 5")
        picture.text(478, round(axes.at(0, value)[1]) + 4, words, "start")
    means = [(rows[i][0] + 4.5, sum(row[1] for row in rows[i:i + 10]) / 10) for i in range(0, len(rows), 10)]
    axes.line(means, COLOURS[0])
    picture.text(478, 226, "the network", "start", COLOURS[0])
    return picture


def digits(printed, _):
    epochs = [(int(epoch), float(accuracy)) for epoch, accuracy in
              re.findall(r"^epoch (\d+)/.* accuracy (\S+) %", printed, flags=re.M)]
    picture = Picture(640, 300)
    axes = Axes(picture, 40, 24, 320, 220, (0, len(epochs)), (80, 100))
    axes.ticks(range(0, len(epochs) + 1, 10), range(80, 101, 5))
    axes.names("epoch", "held-out digits that are read right, in %")
    axes.line(epochs, COLOURS[0])
    shades = re.search(r"^Held-out digits:\n((?:.*\n){8})(.*)", printed, flags=re.M)
    lines, captions = shades[1].splitlines(), re.findall(r"reads \d(?:, is \d)?", shades[2])
    for i, caption in enumerate(captions[:4]):
        left, top, side = 400 + 125 * (i % 2), 24 + 125 * (i // 2), 12
        for level, shade in enumerate("░▒▓█", 1):
            squares = [(left + x * side, top + y * side) for y in range(8) for x in range(8) if lines[y][18 * i + 2 * x] == shade]
            picture.squares(squares, side, COLOURS[0], level / 4)
        picture.text(left + 4 * side, top + 8 * side + 16, caption)
    return picture


PRINTED = {"pmap_cookbook": pmap_cookbook, "digits": digits}
WRITTEN = {function.__name__: function for function in
           (character_network, hamiltonian_monte_carlo, inverse_problem, k_means, wave_equation)}
PICTURES = {**PRINTED, **WRITTEN}


def drawn(name, programs):
    with tempfile.TemporaryDirectory(prefix="gallery-") as folder:
        table = Path(folder) / "table.csv"
        status, printed, errors = run([programs / name, *([table] if name in WRITTEN else [])], folder)
        if status != 0:
            raise RuntimeError(f"ends with status {status}\n{errors}")
        rows = []
        if table.exists():
            with table.open() as file:
                rows = [[float(cell) for cell in row] for row in csv.reader(file)]
    return PICTURES[name](printed, rows).svg()


def wrong_with(name, path, svg):
    """What makes a committed picture another one than what the example makes now, or one that does not belong there."""
    if not path.exists():
        yield "is not there"
        return
    committed = path.read_text()
    apart = difference(committed, svg)
    if apart:
        yield f"is not what the example makes now: {apart}"
    if len(committed) > LARGEST:
        yield f"has {len(committed)} bytes, more than {LARGEST}"
    if not re.search(rf"!\[[^\]]+\]\(gallery/{name}\.svg\)", (ROOT / "docs/gallery.md").read_text()):
        yield "is not shown by docs/gallery.md, with a text in place of it"


def main():
    arguments = sys.argv[1:]
    if arguments == ["--names"]:
        print(*sorted(PICTURES))
        return 0
    programs, check, names = Path(arguments[0]).resolve(), "--check" in arguments, arguments[1:]
    names = [name for name in names if name != "--check"] or sorted(PICTURES)
    failures = 0
    for name in names:
        path = FOLDER / f"{name}.svg"
        try:
            svg = drawn(name, programs)
            wrong = list(wrong_with(name, path, svg)) if check else []
        except (RuntimeError, OSError, AttributeError, LookupError, TypeError, ValueError) as error:
            wrong = [f"is not made: {error}"]
        else:
            if not check:
                FOLDER.mkdir(exist_ok=True)
                path.write_text(svg)
                print(f"docs/gallery/{name}.svg: {len(svg)} bytes")
        failures += len(wrong)
        for what in wrong:
            print(f"docs/gallery/{name}.svg {what}", file=sys.stderr)
    for path in sorted(FOLDER.glob("*")):
        if path.stem not in PICTURES or path.suffix != ".svg":
            failures += 1
            print(f"docs/gallery/{path.name} is no example's picture", file=sys.stderr)
    if check:
        print(f"gallery: {len(names)} pictures, {failures} things wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
