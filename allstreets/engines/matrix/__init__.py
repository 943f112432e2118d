"""Hand classes and bucket chains: hands against hands as matrices."""
