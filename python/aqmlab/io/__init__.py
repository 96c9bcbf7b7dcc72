"""What comes in and goes out: whole files, TOML documents, terminals, numbers as text."""
