"""The anchors that GitHub and the site make of headings."""
import re


def anchor_of(heading):
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def anchors_of(text):
    """Those of a page's headings, a number behind what is there already, and those that HTML names."""
    anchors = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), flags=re.M):
        anchor = anchor_of(heading)
        number = 0
        while (anchor if number == 0 else f"{anchor}-{number}") in anchors:
            number += 1
        anchors.add(anchor if number == 0 else f"{anchor}-{number}")
    return anchors
