"""Runs a PTX kernel on arrays, so that its meaning is tested without a GPU.

    machine = Module(open("k.ptx").read())
    x, result, coordinates = array("f", range(80)), array("f", [0] * 8), array("q", [0])
    machine.launch("reduce_8x10", blocks=1, arrays=[x, result, coordinates])

Threads of a warp run one after another up to the next shuffle, where they wait
for each other. Only the instructions that Weft's kernels use are known; another
one is an error that names it.
"""

import math
import re
import struct
from fractions import Fraction

LANES = 32
SIZES = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "b32": 4, "u32": 4, "s32": 4,
         "f32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "bf16": 2, "pred": 1}
COMPARE = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
           "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
# Integer comparisons of unsigned values have names of their own.
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def f32(value):
    """The nearest float of 32 bits."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def value_of(bits, kind):
    """Register bits as a number of a PTX type."""
    size = SIZES[kind]
    bits &= (1 << 8 * size) - 1
    if kind == "f32":
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    if kind == "bf16":
        return value_of(bits << 16, "f32")
    if kind == "f64":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    if kind[0] == "s" and bits >> (8 * size - 1):
        return bits - (1 << 8 * size)
    return bits


def bits_of(value, kind):
    """A number of a PTX type as register bits."""
    if kind == "f32":
        return struct.unpack("<I", struct.pack("<f", f32(value)))[0]
    if kind == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    return int(value) & ((1 << 8 * SIZES[kind]) - 1)


def fused(a, b, c):
    """a * b + c, rounded once. An f32 product is exact in f64 and needs no such care."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)) or a == 0 or b == 0 or c == 0:
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else 0.0


def divide(a, b, kind):
    """a / b: to nearest for floats, toward zero for integers."""
    if kind[0] == "f":
        if b == 0:
            return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
        return a / b
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def extreme(pick):
    """max or min; with .NaN a NaN operand is the result."""
    def apply(a, b, kind, words):
        if kind[0] == "f" and (math.isnan(a) or math.isnan(b)):
            return math.nan if "NaN" in words else (b if math.isnan(a) else a)
        return pick(a, b)
    return apply


BINARY = {
    "add": lambda a, b, k, w: a + b, "sub": lambda a, b, k, w: a - b,
    "div": lambda a, b, k, w: divide(a, b, k), "rem": lambda a, b, k, w: a - b * divide(a, b, k),
    "and": lambda a, b, k, w: a & b, "or": lambda a, b, k, w: a | b, "xor": lambda a, b, k, w: a ^ b,
    "shl": lambda a, b, k, w: a << b if b < 8 * SIZES[k] else 0,
    "shr": lambda a, b, k, w: a >> min(b, 8 * SIZES[k] - (k[0] == "s")),
    "max": extreme(max), "min": extreme(min),
}
# cvt between floats: to a whole number.
ROUND = {"rmi": math.floor, "rpi": math.ceil, "rni": round, "rzi": math.trunc}
UNARY = {
    "mov": lambda a, k: a, "neg": lambda a, k: -a, "abs": lambda a, k: abs(a), "not": lambda a, k: ~a,
    "rcp": lambda a, k: divide(1.0, a, k),
    "sqrt": lambda a, k: math.sqrt(a) if a >= 0 else math.nan, "cvta": lambda a, k: a,
}


class Instruction:
    """`@%p1 fma.rn.f32 %r1, %r2, %r3, 0f3F800000;` in parts."""

    def __init__(self, text):
        guard = re.match(r"@(!?)(%p\d+)\s+", text)
        self.negated, self.guard = (guard.group(1) == "!", guard.group(2)) if guard else (False, None)
        head, _, rest = text[guard.end() if guard else 0:].partition(" ")
        rest = rest or head.partition("\t")[2]
        self.words = head.split()[0].split(".")
        self.op, self.kind = self.words[0], self.words[-1]
        self.operands = [part.strip() for part in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,]+", rest)]


class Module:
    """All kernels and constant data of a PTX text."""

    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", text)
        self.memory, self.buffers, self.symbols, self.kernels = 4096, [], {}, {}
        for name, size, data in re.findall(r"\.global\s+\.align \d+ \.b8 ([\w$.]+)\[(\d+)\] = \{([^}]*)\}", text):
            known = bytes(int(n) & 255 for n in data.split(","))
            self.symbols[name] = self.place(bytearray(known.ljust(int(size), b"\0")))
        for name, parameters, body in re.findall(r"\.entry ([\w$.]+)\((.*?)\).*?\n\{(.*?)\n\}", text, re.S):
            self.kernels[name] = (re.findall(r"(\w+_param_\d+)", parameters), *self.parse(body))

    @staticmethod
    def parse(body):
        code, labels = [], {}
        for statement in re.split(r";|(?<=:)\n", body):
            statement = " ".join(statement.split())
            while found := re.match(r"(\$[\w]+):\s*", statement):
                labels[found.group(1)] = len(code)
                statement = statement[found.end():]
            if statement and not statement.startswith("."):
                code.append(Instruction(statement))
        return code, labels

    def place(self, values):
        address, data = self.memory, memoryview(values).cast("B")
        self.buffers.append((address, data))
        self.memory += (data.nbytes + 4095) // 4096 * 4096 + 4096
        return address

    def bytes_at(self, address, size):
        for start, data in self.buffers:
            if start <= address and address + size <= start + data.nbytes:
                return data[address - start:address - start + size]
        raise SystemExit(f"access to {size} bytes at {address:#x}, which no buffer has")

    def launch(self, name, blocks, arrays, threads=256):
        parameters, code, labels = self.kernels[name]
        assert len(parameters) == len(arrays), (name, parameters, len(arrays))
        addresses = dict(zip(parameters, [self.place(array) for array in arrays]))
        for block in range(blocks):
            for warp in range(threads // LANES):
                special = {"%ctaid.x": block, "%nctaid.x": blocks, "%ntid.x": threads}
                run_warp([Thread(self, code, labels, {**self.symbols, **addresses}, {**special, "%tid.x": warp * LANES + lane})
                          for lane in range(LANES)])


def run_warp(threads):
    """Runs the lanes up to a shuffle, exchanges, and so on to the end."""
    while True:
        waiting = [thread for thread in threads if thread.run()]
        if not waiting:
            return
        if len(waiting) != LANES or len({thread.position for thread in waiting}) != 1:
            raise SystemExit("a shuffle that not all lanes reach")
        mode = waiting[0].instruction.words[2]
        assert mode == "bfly", mode
        sent = [thread.read(thread.instruction.operands[1], "b32") for thread in threads]
        for lane, thread in enumerate(threads):
            distance = thread.read(thread.instruction.operands[2], "u32")
            thread.write(thread.instruction.operands[0].split("|")[0], sent[lane ^ distance], "b32")
            thread.position += 1


class Thread:
    """Registers and position of one thread."""

    def __init__(self, module, code, labels, symbols, special):
        self.module, self.code, self.labels, self.symbols = module, code, labels, symbols
        self.registers = dict(special)
        self.position = 0

    @property
    def instruction(self):
        return self.code[self.position]

    def read(self, name, kind):
        if name.startswith("%"):
            return value_of(self.registers[name], kind)
        if name.startswith(("0f", "0d")):
            return value_of(int(name[2:], 16), kind)
        if name in self.symbols:
            return self.symbols[name]
        return value_of(int(name, 0), kind)

    def write(self, name, value, kind):
        self.registers[name] = bits_of(value, kind)

    def run(self):
        """Executes up to a shuffle (True) or the end (False)."""
        while self.position < len(self.code):
            step = self.instruction
            if step.guard and bool(self.registers[step.guard]) == step.negated:
                self.position += 1
                continue
            if step.op == "shfl":
                return True
            if step.op == "ret":
                self.position = len(self.code)
                return False
            if step.op == "bra":
                self.position = self.labels[step.operands[0]]
                continue
            self.execute(step)
            self.position += 1
        return False

    def address(self, operand):
        base, _, offset = operand[1:-1].partition("+")
        return self.read(base.strip(), "u64") + int(offset or 0)

    def transfer(self, step):
        names = [name.strip() for name in step.operands[0 if step.op == "ld" else 1].strip("{}").split(",")]
        where = step.operands[1 if step.op == "ld" else 0]
        if "param" in step.words:
            self.registers[names[0]] = self.symbols[where[1:-1]]
            return
        size, start = SIZES[step.kind], self.address(where)
        for i, name in enumerate(names):
            data = self.module.bytes_at(start + i * size, size)
            if step.op == "ld":
                self.write(name, value_of(int.from_bytes(data.tobytes(), "little"), step.kind if step.kind[0] != "f" else f"b{8 * size}"), "s64" if step.kind[0] == "s" else "b64")
            else:
                data[:] = self.read(name, f"b{8 * size}").to_bytes(size, "little")

    def execute(self, step):
        op, kind, words, names = step.op, step.kind, step.words, step.operands
        if op in ("ld", "st"):
            self.transfer(step)
        elif op == "mov" and names[0].startswith("{"):  # the parts of a register, the lowest first
            parts, bits = [part.strip() for part in names[0].strip("{}").split(",")], self.read(names[1], kind)
            for i, part in enumerate(parts):
                self.write(part, bits >> i * 8 * SIZES[kind] // len(parts), f"b{8 * SIZES[kind] // len(parts)}")
        elif op in BINARY:
            kinds = [kind, "u32" if op in ("shl", "shr") else kind]
            a, b = (self.read(name, k) for name, k in zip(names[1:3], kinds))
            self.write(names[0], BINARY[op](a, b, kind, words), kind)
        elif op in UNARY:
            self.write(names[0], UNARY[op](self.read(names[1], kind), kind), kind)
        else:
            special = getattr(self, f"execute_{op}", None)
            if not special:
                raise SystemExit(f"instruction {'.'.join(words)} is not known")
            special(step, kind, words, names)

    def execute_mul(self, step, kind, words, names):
        a, b = self.read(names[1], kind), self.read(names[2], kind)
        if kind[0] == "f":
            return self.write(names[0], a * b, kind)
        wide = f"{kind[0]}{int(kind[1:]) * 2}" if "wide" in words else kind
        product = a * b >> (int(kind[1:]) if "hi" in words else 0)
        return self.write(names[0], product, wide)

    def execute_mad(self, step, kind, words, names):
        wide = f"{kind[0]}{int(kind[1:]) * 2}" if "wide" in words else kind
        product = self.read(names[1], kind) * self.read(names[2], kind)
        self.write(names[0], product + self.read(names[3], wide), wide)

    def execute_fma(self, step, kind, words, names):
        a, b, c = (self.read(name, kind) for name in names[1:4])
        self.write(names[0], fused(a, b, c) if kind == "f64" else a * b + c, kind)

    def execute_copysign(self, step, kind, words, names):
        self.write(names[0], math.copysign(self.read(names[2], kind), self.read(names[1], kind)), kind)

    def execute_setp(self, step, kind, words, names):
        test = words[1]
        a, b = self.read(names[1], kind), self.read(names[2], kind)
        if test in UNSIGNED:
            test = UNSIGNED[test]
        if kind[0] == "f" and test in ("num", "nan"):
            result = (math.isnan(a) or math.isnan(b)) == (test == "nan")
        elif kind[0] == "f" and test.endswith("u"):
            result = math.isnan(a) or math.isnan(b) or COMPARE[test[:-1]](a, b)
        elif kind[0] == "f" and test == "ne":
            result = not (math.isnan(a) or math.isnan(b)) and a != b
        else:
            result = COMPARE[test](a, b)
        self.registers[names[0]] = int(bool(result))

    def execute_selp(self, step, kind, words, names):
        chosen = names[1] if self.registers[names[3]] else names[2]
        self.write(names[0], self.read(chosen, kind), kind)

    def execute_cvt(self, step, kind, words, names):
        to, value = words[-2], self.read(names[1], kind)
        if kind[0] == "f" and to[0] != "f":
            low, high = (-(1 << int(to[1:]) - 1), (1 << int(to[1:]) - 1) - 1) if to[0] == "s" else (0, (1 << int(to[1:])) - 1)
            value = 0 if math.isnan(value) else int(min(max(float(value), low), high))
        elif kind[0] == "f" and words[1] in ROUND and math.isfinite(value):
            value = math.copysign(ROUND[words[1]](value), value)
        self.write(names[0], value, to)

    def execute_shf(self, step, kind, words, names):
        low, high, count = (self.read(name, "u32") for name in names[1:4])
        count = count & 31 if "wrap" in words else min(count, 32)
        both = high << 32 | low
        self.write(names[0], both << count >> 32 if words[1] == "l" else both >> count, "b32")
