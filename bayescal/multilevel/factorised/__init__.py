"""Sites integrated out one by one."""
