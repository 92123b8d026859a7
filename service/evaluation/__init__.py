"""Evaluation against gold data: leaves compared, figures, confidence, calibration, and their reports."""
