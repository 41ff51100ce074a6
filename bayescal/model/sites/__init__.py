"""Several sites with a curve each: what is fitted to them."""
