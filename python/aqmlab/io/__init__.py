"""Input and output: atomic writes of files, TOML documents, terminals, numbers as text."""
