"""Kinds: functions that the decorator `job` declares as jobs, and which kinds this process knows.

`decorator` makes a DeclaredJob (`declared`) of a function; `declaration` is its value, and `arguments` turns the
function's arguments into a payload and back. `registry` has the kinds whose modules are imported, `index` finds the
module of the others without an import. `check` rejects jobs that no handler could run.
"""
