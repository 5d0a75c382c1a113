"""Reads CBOR (RFC 8949): numbers, texts, lists, maps and what is simple."""
import json
import struct


def decoded(data):
    """The value that some bytes are: JSON, or CBOR (RFC 8949) of numbers, texts, lists, maps and what is simple."""
    if data[:1] == b"{":
        return json.loads(data)
    at = 0

    def item():
        nonlocal at
        kind, count = data[at] >> 5, data[at] & 31
        size = {24: 1, 25: 2, 26: 4, 27: 8}.get(count, 0)
        at += 1 + size
        if kind == 7:
            return struct.unpack(">d", data[at - 8 : at])[0] if size == 8 else {20: False, 21: True}.get(count)
        if size:
            count = int.from_bytes(data[at - size : at], "big")
        if kind < 2:
            return -1 - count if kind else count
        if kind == 4:
            return [item() for _ in range(count)]
        if kind == 5:
            return {item(): item() for _ in range(count)}
        if kind != 3 or at + count > len(data):
            raise ValueError("no such value in CBOR")
        at += count
        return data[at - count : at].decode()

    return item()
