"""The page of `bayescal app`: a server on this computer alone, and what it shows."""
