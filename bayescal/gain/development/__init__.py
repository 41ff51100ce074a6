"""What a model will meet in new patients, from the data it was developed on."""
