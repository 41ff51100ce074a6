"""The likelihood of a curve where cases come in clusters."""
