"""What a screen showed at one moment, in its own pixels and as the encoder takes them."""

from __future__ import annotations

from collections.abc import Iterable

from clawbench.environments.browser import colours
from clawbench.environments.browser.colours import Colours
from clawbench.environments.browser.screen import Screen


class Frames:
    """Two frames that take turns: one is shown, while the other may still be on its way to the encoder."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._colours = _colours(screen)
        self._shown, self._spare = self._blank(), self._blank()

    @property
    def format(self) -> str:
        """Of the pictures, as ffmpeg calls it: the screen's own where only ffmpeg itself can convert it."""
        return colours.VIDEO if self._colours else colours.SCREEN

    @property
    def shown(self) -> bytearray:
        """The pixels of the later frame."""
        return self._shown[0]

    @property
    def before(self) -> bytearray:
        """The pixels of the one before it."""
        return self._spare[0]

    @property
    def picture(self) -> bytearray:
        """The later frame for the encoder; stays as it is until the next but one is taken."""
        return self._shown[1]

    def take(self) -> None:
        """The spare frame becomes what the screen shows now."""
        pixels, picture = self._spare
        changed = self._screen.update(pixels)
        self._convert(pixels, picture, changed)
        self._shown, self._spare = self._spare, self._shown

    def _blank(self) -> tuple[bytearray, bytearray]:
        pixels = bytearray(self._screen.frame_size)
        if self._colours is None:
            return pixels, pixels
        picture = bytearray(self._colours.picture_size)
        self._convert(pixels, picture, self._screen.band_rows)
        return pixels, picture

    def _convert(self, pixels: bytearray, picture: bytearray, tops: Iterable[int]) -> None:
        if self._colours is not None:
            for top in tops:
                self._colours.convert(pixels, picture, top, self._screen.band_rows[top])


def _colours(screen: Screen) -> Colours | None:
    try:
        return Colours(screen.size, screen.stride)
    except OSError:
        return None
