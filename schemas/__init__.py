"""The wire types of the service and the catalogue of ready-made extraction schemas."""
