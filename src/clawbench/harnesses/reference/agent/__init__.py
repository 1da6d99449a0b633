"""The reference agent: a program of its own that runs inside the sandbox.

It knows only what it finds there: a settings file in HOME, the gateway's address and token in the
environment, and a browser (CDP) or a repository. It needs nothing but the standard library and `websockets`.
"""
