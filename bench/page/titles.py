"""The systems of the page, in the order of the plots' colors, and their titles."""

from bench.peers.systems import PEERS
from bench.queues.systems import LIMITS

SYSTEMS = {system.name: system for system in (*LIMITS, *PEERS)}
TITLES = {name: system.title for name, system in SYSTEMS.items()}
