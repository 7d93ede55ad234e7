"""Small images and PDFs. (Of the JPEG there is only the beginning and the end.)"""

import hashlib
import struct
import zlib
from base64 import b64encode


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 1, shade: int = 0) -> bytes:
    """A grey image, one pixel high."""
    header = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0" + bytes([shade]) * width)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", pixels), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def pdf(text: str = "Hello") -> bytes:
    """One page with a line of text."""
    drawn = f"BT /F1 12 Tf 10 10 Td ({text}) Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 50] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, starts = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", []
    for number, content in enumerate(objects, 1):
        starts.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return out + f"{tail}startxref\n{len(out)}\n%%EOF\n".encode()


PNG = png()
PDF = pdf()
GIF = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffd9")
WEBP = bytes.fromhex(
    "52494646240000005745425056503820180000003001009d012a0100010001402625a400037000fefd366800"
)


def base64(data: bytes) -> str:
    """As it stands in a request."""
    return b64encode(data).decode()


def sha256(data: bytes) -> str:
    """As it stands in a row."""
    return hashlib.sha256(data).hexdigest()
