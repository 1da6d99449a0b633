"""Is this a PNG that every reader can show? Pure."""

from __future__ import annotations

import io
import warnings

from PIL import Image

MOST_PIXELS = 64_000_000
"""Eight screens of 3840 x 2160 would not fit; a bomb does not either."""


def check_png(data: bytes) -> None:
    """ValueError says why the bytes are no whole PNG of a sane size."""
    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(data), formats=["PNG"]) as picture:
            warnings.simplefilter("error")
            if picture.width * picture.height > MOST_PIXELS:
                raise ValueError(f"has more than {MOST_PIXELS} pixels")
            picture.load()
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"is not a whole PNG ({error or type(error).__name__})") from None
