# SPDX-License-Identifier: GPL-2.0-only
"""Unseal a file as iotape-seal(1) describes the format: unseal.py KEY SEALED >FILE"""
import base64
import sys

from nacl import bindings


def secret_key(path):
    word, key = open(path).read().split()
    assert word == "iotape-secret-key"
    return base64.b64decode(key)


def unseal(key_path, path):
    secret = secret_key(key_path)
    public = bindings.crypto_scalarmult_base(secret)
    data = open(path, "rb").read()
    assert data[:8] == bytes.fromhex("89696f530d0a1a0a")
    assert data[8:16] == (1).to_bytes(4, "little") + (65536).to_bytes(4, "little")
    key = bindings.crypto_box_seal_open(data[16:96], public, secret)
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, data[96:120], key)
    at, tag, head = 120, 0, data[:120]
    while tag != bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL:
        length = data[at:at + 4]
        at += 4
        message = data[at:at + int.from_bytes(length, "little")]
        block, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(state, message, length + head)
        sys.stdout.buffer.write(block)
        at += len(message)
        head = b""
    assert at == len(data)


unseal(*sys.argv[1:])
