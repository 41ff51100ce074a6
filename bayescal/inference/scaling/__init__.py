"""How much of an answer is the prior's, by power scaling."""
