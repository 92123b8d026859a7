"""What a server tells of itself: metrics, traces and the state of its engine."""
