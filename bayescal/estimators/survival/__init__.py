"""Second opinions on risks of an event by a horizon, where some cases left before it."""
