"""Chance: random numbers that depend only on their seeds, with splitmix64."""


def number(salt: int, seed: int, turn: int = 1) -> float:
    """Return a number in [0, 1) from a salt, the seed of the simulation, and how often the salt was used."""
    mixed = salt + 0x9E3779B97F4A7C15 * turn + seed * 0xD1342543DE82EF95
    mixed &= 0xFFFFFFFFFFFFFFFF
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return ((mixed ^ mixed >> 31) >> 11) / 2**53
