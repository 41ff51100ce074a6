"""How cases become a table: in parts and in any order."""
