"""Started as `python -I -B <this directory>`, so the import path is made here."""

import os
import sys
from importlib import import_module
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent), os.environ.get("REFERENCE_SITE", str(here.parent / "site"))]
program = os.environ.get("REFERENCE_PROGRAM", "program")
sys.exit(import_module(f"{here.name}.{program}").main())
