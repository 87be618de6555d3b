"""A module of a layer."""

WORD = "from the layer"
