"""The version of the package, where everything may import it from."""

__version__ = "0.1.0"
