"""One model in several processes: the place of each process, and their exchange of tensors."""
