"""Grammars of running sequences: compilation, masks, budgets, replay of device-masked sequences."""
