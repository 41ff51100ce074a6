"""Cases by several factors at once, such as sex, age and device."""
