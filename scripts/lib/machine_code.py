"""What the machine code of a GPU's kernels says of how they use memory, read from nvdisasm's text."""
import re
from typing import NamedTuple

# What a multiprocessor has, from sm_80 to sm_90: registers are given to warps in pieces, and warps to its four quarters.
MOST_THREADS, MOST_BLOCKS, REGISTERS, REGISTER_PIECE, QUARTERS, WARP = 2048, 32, 65536, 256, 4, 32
SHARED_BYTES = {"sm_80": 163 * 1024, "sm_90": 227 * 1024}
SHARED_BYTES_OF_SYSTEM = 1024  # of each block


class Loads(NamedTuple):
    """Of a kernel's global memory: bytes of the widest load, and the loads that are under way at a time with their bytes."""
    widest: int = 0
    under_way: int = 0
    bytes_under_way: int = 0


class Code(NamedTuple):
    """A kernel's instructions as text, and the threads of its largest block."""
    lines: list
    most_threads: int


def kernels_of(text):
    """mangled name -> Code, of what nvdisasm prints for a cubin."""
    lines, threads, name, info, wanted = {}, {}, None, None, False
    for line in text.splitlines():
        if match := re.match(r"\s*\.section\s+([^,\s]+)", line):
            section = match[1]
            name = section.removeprefix(".text.") if section.startswith(".text.") else None
            info = section.removeprefix(".nv.info.") if section.startswith(".nv.info.") else None
            if name is not None:
                lines[name] = []
        elif name is not None:
            lines[name].append(line)
        elif info is not None:
            if "EIATTR_" in line:
                wanted = "EIATTR_MAX_THREADS" in line
            elif wanted and (match := re.search(r"\.word\s+0x([0-9a-f]+)", line)):
                threads[info], wanted = int(match[1], 16), False
    return {each: Code(lines[each], threads.get(each, 1024)) for each in lines}


def loaded_bytes(operation):
    """Of a thread, by a load of this name."""
    sizes = {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1}
    return next((sizes[part] for part in operation.split(".") if part in sizes), 4)


def loads_of(lines):
    """The widest load, and the most bytes that straight code asks global memory for before it reads any of them.

    Straight code ends at labels and wherever control may go elsewhere. Of what is loaded under predicates, which may be
    either of two ways, that under one of them counts.
    """
    widest, best, run, pending = 0, (0, 0), {}, set()

    def ended():
        nonlocal best, run, pending
        always = run.get("", [])
        under_one = max((sizes for predicate, sizes in run.items() if predicate), key=lambda sizes: (sum(sizes), -len(sizes)), default=[])
        best = max(best, (sum(always) + sum(under_one), -len(always) - len(under_one))) # rather few wide ones
        run, pending = {}, set()

    for line in lines:
        if re.match(r"\.L_\w+:", line):
            ended()
        match = re.search(r"/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*([^;]*);", line)
        if not match:
            continue
        predicate, operation, operands = match.groups(default="")
        first, _, others = operands.partition(",")
        if operation.split(".")[0] in ("BRA", "BRX", "JMP", "CALL", "RET", "EXIT", "BSYNC", "BREAK", "BAR", "WARPSYNC", "YIELD"):
            ended()
            continue
        is_load = operation.startswith("LDG")
        # what is stored stands behind the address, and results first
        sources = operands if operation.startswith(("ST", "RED")) else others
        read = set()
        for register, suffix in re.findall(r"\bR(\d+)((?:\.\w+)*)", sources):
            read |= {int(register), int(register) + 1} if ".64" in suffix else {int(register)}
        if read & pending:
            ended()
        if is_load:
            size = loaded_bytes(operation)
            widest = max(widest, size)
            run.setdefault(predicate, []).append(size)
            target = int(re.match(r"\s*R(\d+)", first)[1])
            pending |= set(range(target, target + max(size // 4, 1)))
    ended()
    return Loads(widest, -best[1], best[0])


def blocks_of(architecture, registers, shared, threads):
    """The blocks of so many threads that a multiprocessor holds at a time."""
    warps = -(-threads // WARP)
    each = -(-registers * WARP // REGISTER_PIECE) * REGISTER_PIECE
    by_registers = REGISTERS // each // QUARTERS * QUARTERS // warps if registers else MOST_BLOCKS
    by_shared = SHARED_BYTES[architecture] // (shared + SHARED_BYTES_OF_SYSTEM)
    return min(MOST_BLOCKS, MOST_THREADS // (warps * WARP), by_registers, by_shared)
