"""Reading a schema: values, dialects, keyword shapes, references."""
