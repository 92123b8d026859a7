"""Calibration of confidences: the file, and its use on answers."""
