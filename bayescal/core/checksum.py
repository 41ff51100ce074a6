"""A checksum of what is stored: that a file holds what was written."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["checksum"]


def checksum(dataset: xr.Dataset, beside: str = "") -> str:
    """SHA-256 of all variables, by name, and of a text beside them."""
    digest = hashlib.sha256(beside.encode("utf-8", "surrogatepass"))
    for name in sorted(map(str, dataset.data_vars)):
        values = dataset[name].to_numpy()
        digest.update(f"{name} {values.shape}".encode())
        if values.dtype.kind in "OUT":
            texts = "\0".join(map(str, values.tolist()))
            digest.update(texts.encode("utf-8", "surrogatepass"))
        else:
            digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()
