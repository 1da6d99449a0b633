"""The synthetic person a web agent acts for, with an address of its own for each run."""

from clawbench.identity.person import Person, new_person, write_my_info, write_resume

__all__ = ["Person", "new_person", "write_my_info", "write_resume"]
