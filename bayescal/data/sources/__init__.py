"""Where tables come from: data frames, files and clusters."""
