"""The verdict of an assessment: is the model off, by how much, and what would settle it."""
