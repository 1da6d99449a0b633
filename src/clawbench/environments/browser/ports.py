"""Ports that outside tools and people know; a taken one moves to a free one, which is printed."""

LOOPBACK = "127.0.0.1"
RECORDER = 7878
NOVNC = 6080
