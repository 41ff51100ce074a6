"""One risk for each of a few distinct scores, exactly the score or near it."""
