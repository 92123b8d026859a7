"""The wire types of extractions: requests, results, events, and the reports on values."""
