"""Tables of cases that come in parts, and labels of the same cases compared."""
