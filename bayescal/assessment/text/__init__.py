"""An assessment as text: rows of a table, lines of a terminal, paragraphs of a paper."""
