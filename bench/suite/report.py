"""The table and the plot of docs/performance.md, from the medians of all cases."""
import math
import statistics

US = "parallax"
NOT_PEERS = (US, "limit")
# Those of the README's picture: of each kind one, the slow ones too.
A_DOZEN = ["chain 256", "chain 4194304", "exp", "sin f64", "max rows 4096x1024", "softmax 4096x1024", "layernorm 262144x64, gradient",
           "matmul 32", "matmul 1024", "perceptron step 256", "transformer block 64, gradient", "psum of 4 MB, 2 devices"]
TEXT = "#7d8590"  # can be read on light and on dark pages


def text_of(seconds):
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def ratios(times):
    """By how much Parallax is faster than the best peer, for each case that has one."""
    for case, by_who in times.items():
        others = [seconds for who, seconds in by_who.items() if who not in NOT_PEERS]
        if others:
            yield case, min(others) / by_who[US]


def table(times, sizes):
    """A row for each case; of the peers' times the best is bold. `sizes` are the bytes moved at the least."""
    peers = sorted({who for by_who in times.values() for who in by_who} - set(NOT_PEERS))
    faster = dict(ratios(times))
    lines = ["| case | Parallax | GB/s | limit / Parallax | " + " | ".join(peers) + " | best peer / Parallax |",
             "|---|---|---|---|" + "---|" * len(peers) + "---|"]
    for case, by_who in times.items():
        own = by_who[US]
        speed = f"{sizes[case] / own * 1e-9:.1f}" if sizes.get(case) else ""
        of_limit = f"{by_who['limit'] / own:.2f}" if "limit" in by_who else ""
        ratio = f"{faster[case]:.2f}" if case in faster else ""
        best = min((by_who[who] for who in peers if who in by_who), default=None)
        cells = []
        for who in peers:
            text = text_of(by_who[who]) if who in by_who else ""
            cells.append(f"**{text}**" if who in by_who and by_who[who] == best else text)
        lines.append(f"| {case} | {text_of(own)} | {speed} | {of_limit} | " + " | ".join(cells) + f" | {ratio} |")
    lines.append("")
    lines.append(f"Geometric mean of the ratios {statistics.geometric_mean(faster.values()):.2f}; "
                 f"{sum(r >= 0.95 for r in faster.values())} of {len(faster)} cases are at most 5 % behind the best peer.")
    return "\n".join(lines) + "\n"


def plot(cases):
    """A bar for each case: how many times faster than the best peer (`ratios`), on a logarithmic scale."""
    left, width, row = 240, 270, 16  # narrow, for telephones
    reach = max(abs(math.log2(ratio)) for _, ratio in cases)
    middle = left + width / 2
    across, down = left + width + 50, row * len(cases) + 40
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" viewBox="0 0 {across} {down}" '
             f'font-family="sans-serif" font-size="12" fill="{TEXT}">',
             f'<text x="{across / 2:g}" y="14" text-anchor="middle">best peer\'s time / Parallax\'s: to the right of the line Parallax is faster</text>']
    for number, (case, ratio) in enumerate(cases):
        y = 24 + row * number
        length = abs(math.log2(ratio)) / reach * width / 2
        x = middle if ratio >= 1 else middle - length
        colour = "#3a7d44" if ratio >= 0.95 else "#b5492f"
        parts.append(f'<text x="{left - 8}" y="{y + 10}" text-anchor="end">{case}</text>')
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="{max(length, 0.5):.1f}" height="{row - 4}" fill="{colour}"/>')
        parts.append(f'<text x="{left + width + 6}" y="{y + 10}">{ratio:.2f}</text>')
    parts.append(f'<line x1="{middle}" y1="20" x2="{middle}" y2="{24 + row * len(cases)}" stroke="{TEXT}"/></svg>')
    return "\n".join(parts) + "\n"
