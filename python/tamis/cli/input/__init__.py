"""Input of the commands: loads rules files into an index, and handles bad records in bulk calls."""
