"""The wire types of extractions: requests, results, events, and what answers tell about their values."""
