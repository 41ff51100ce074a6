"""The posterior of several sites, of the average site and of a new one."""
