"""How cases become a table: in parts, in any order, to the last bit the same."""
