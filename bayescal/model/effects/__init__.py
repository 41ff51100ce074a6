"""Groups whose curves are an average and effects of several terms: what is fitted to them."""
