"""The command line: one file per subcommand. Its computations live in the layers below."""
