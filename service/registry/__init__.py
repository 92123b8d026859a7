"""The registry of schemas: named, versioned, one set for each tenant."""
