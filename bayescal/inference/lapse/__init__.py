"""The fast engine of curves with a floor and a ceiling."""
