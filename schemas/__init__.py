"""The contract on the wire and the catalogue of ready-made extraction schemas."""
