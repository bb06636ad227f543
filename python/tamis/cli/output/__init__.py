"""Output of the commands: tables, lines and JSON on stdout, progress bars on stderr."""
