"""The fast engine for groups whose curves are sums of effects, and NUTS for them."""
