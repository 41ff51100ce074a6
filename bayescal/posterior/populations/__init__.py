"""Laws of the weights of scores: of cases, of one of several sites, of clusters of cases."""
