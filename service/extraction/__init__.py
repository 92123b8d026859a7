"""One extraction, from schema and text to a validated result."""
