"""Other libraries whose connections `connection=` accepts: one module or package for each, imported when it is needed.

Each module has a function `adapt`, which returns a Database for a sync connection. For an async one it returns an
Executor, or a function that opens one.
"""
