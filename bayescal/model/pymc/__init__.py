"""The curve and the data as a PyMC model: the reference, and a model to extend."""
