"""Arrays, item by item."""
