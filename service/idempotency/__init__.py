"""Answers that are kept under the `Idempotency-Key` of their requests, so that a repeated request gets the same one."""
