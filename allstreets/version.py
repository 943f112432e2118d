"""The version of the package, where everything may import it from."""

__version__ = "1.0.0"
