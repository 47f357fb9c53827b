"""Reads TensorBoard's event files with the standard library, by the public definitions of record_writer.cc and event.proto.

    read(folder) -> [(tag, step, plugin, values)], values in the order of the file

Checksums are computed bit by bit here, unlike in training/callbacks/EventFile.cpp.
"""

import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        length, = struct.unpack_from("<Q", data)
        head, = struct.unpack_from("<I", data, 8)
        body = data[12:12 + length]
        tail, = struct.unpack_from("<I", data, 12 + length)
        assert head == masked(data[:8]) and tail == masked(body), "a checksum is wrong"
        yield body
        data = data[16 + length:]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """{number: [values]} of a message."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        found.setdefault(number, []).append(value)
    return found


def values_of(tensor):
    kind = {1: "f", 2: "d"}[tensor[1][0]]
    shape = [fields(size)[1][0] for size in fields(tensor[2][0]).get(2, [])]
    numbers = [number for number, in struct.iter_unpack("<" + kind, tensor[4][0])]
    count = 1
    for size in shape:
        count *= size
    assert count == len(numbers), f"{len(numbers)} numbers of shape {shape}"
    return numbers


def read(folder):
    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        events = [fields(record) for record in records(path.read_bytes())]
        assert events[0][3] == [b"brain.Event:2"], "the first record says the version"
        for event in events[1:]:
            for value in fields(event[5][0])[1]:
                value = fields(value)
                plugin = fields(fields(value[9][0])[1][0])[1][0].decode()
                found.append((value[1][0].decode(), event.get(2, [0])[0], plugin, values_of(fields(value[8][0]))))
    return found
