"""ffmpeg as an H.264 encoder: raw frames in, one encoded picture out for each, at once."""

from __future__ import annotations

import fcntl
import struct
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from clawbench.environments.browser.colours import SCREEN
from clawbench.environments.browser.pixels import address_of, lend
from clawbench.environments.browser.priority import stand_back
from clawbench.errors import MissingPartError

FLV_HEADER_SIZE, TAG_HEADER_SIZE, TAG_TRAILER_SIZE = 13, 11, 4
VIDEO_TAG, KEY_FRAME = 9, 1
CONFIGURATION, PICTURE = 0, 1
VIDEO_PREFIX_SIZE = 5
PIPE_SIZE = 1 << 20
END_WITHIN_S = 20.0


class EncoderDied(Exception):
    """ffmpeg ended before it was told to."""


@dataclass(frozen=True)
class Picture:
    step: int
    key: bool
    data: bytes


class Encoder:
    """One ffmpeg process. Pictures come back on a thread of its own, in the order the frames were written."""

    def __init__(
        self,
        ffmpeg: str,
        size: tuple[int, int],
        pixel_format: str,
        fps: int,
        *,
        on_configuration: Callable[[bytes], None],
        on_picture: Callable[[Picture], None],
    ) -> None:
        self._on_configuration, self._on_picture = on_configuration, on_picture
        self._steps: deque[int] = deque()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        try:
            self._process = subprocess.Popen(
                _command(ffmpeg, size, pixel_format, fps),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                bufsize=0,
            )
        except OSError as error:
            self._complaints.close()
            remedy = "Install it (`clawbench doctor --fix`)"
            raise MissingPartError("ffmpeg", f"it records the video: {error}", remedy) from None
        stand_back(self._process.pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        with suppress(OSError):
            # Less than a picture: when one has been handed over, nothing is left of the one before.
            smaller = min(PIPE_SIZE, size[0] * size[1] // 2)
            fcntl.fcntl(self._input.fileno(), fcntl.F_SETPIPE_SZ, smaller)
        self._reader = threading.Thread(target=self._read, name="video-pictures", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def write(self, step: int, frame: bytearray) -> None:
        """Hand over a frame; waits while ffmpeg is busy with earlier ones.

        The end of it is lent, not copied: it must stay as it is until the next one is handed over.
        """
        self._steps.append(step)
        address, done = address_of(frame), 0
        try:
            while done < len(frame):
                done += lend(self._input.fileno(), address + done, len(frame) - done)
        except OSError:
            raise EncoderDied(self._end()) from None

    def close(self) -> str | None:
        """Let it finish what it has; a complaint where it did not end well."""
        complaint = self._end()
        return complaint if self._process.returncode else None

    def _end(self) -> str:
        with suppress(OSError):
            self._input.close()
        try:
            self._process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._output.close()
        return self._last_words()

    def _last_words(self) -> str:
        if self._complaints.closed:
            return ""
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        self._complaints.close()
        return f"ffmpeg ended with {self._process.returncode}: {lines[-1] if lines else 'no message'}"

    def _read(self) -> None:
        if len(_exactly(self._output, FLV_HEADER_SIZE)) < FLV_HEADER_SIZE:
            return
        while len(header := _exactly(self._output, TAG_HEADER_SIZE)) == TAG_HEADER_SIZE:
            size = int.from_bytes(header[1:4], "big")
            body = _exactly(self._output, size + TAG_TRAILER_SIZE)
            if len(body) < size + TAG_TRAILER_SIZE:
                return
            if header[0] == VIDEO_TAG:
                self._take(body[:size])

    def _take(self, body: bytes) -> None:
        kind, packet = struct.unpack_from("BB", body)
        if packet == CONFIGURATION:
            self._on_configuration(body[VIDEO_PREFIX_SIZE:])
        elif packet == PICTURE:
            self._on_picture(Picture(self._steps.popleft(), kind >> 4 == KEY_FRAME, body[VIDEO_PREFIX_SIZE:]))


def _exactly(file: IO[bytes], size: int) -> bytes:
    """`size` bytes, or fewer at the end of the stream."""
    data = bytearray()
    while len(data) < size and (part := file.read(size - len(data))):
        data += part
    return bytes(data)


def _command(ffmpeg: str, size: tuple[int, int], pixel_format: str, fps: int) -> list[str]:
    width, height = size
    frames = ["-f", "rawvideo", "-pixel_format", pixel_format, "-video_size", f"{width}x{height}"]
    conversion = "scale=out_color_matrix=bt709:out_range=tv:flags=neighbor,format=yuv420p"
    colours = [*(["-vf", conversion] if pixel_format == SCREEN else []), "-colorspace", "bt709"]
    tagged = ["-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
    # A constant quantizer: `-crf` looks at each frame a second time to choose one.
    codec = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-qp", "21", "-threads", "1"]
    return [
        *(ffmpeg, "-hide_banner", "-loglevel", "error", "-nostdin", "-probesize", "32"),
        *(*frames, "-framerate", str(fps), "-i", "pipe:0"),
        *(*colours, *tagged, *codec, "-g", str(fps * 10)),
        *("-flush_packets", "1", "-flvflags", "no_duration_filesize", "-f", "flv", "pipe:1"),
    ]
