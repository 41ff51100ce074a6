"""Times to an event: when it comes, given that it comes by the horizon, and what that tells."""
