"""Files and batches of clients, as in OpenAI's interface, on the tables of the job ledger.

`client_files` keeps files with ids, `batch_ledger` the state of batches, `batch_input` reads a file of requests,
`batch_runner` gets them answered, `batch_outputs` writes the answers to files, `batch_host` runs batches one by one.
"""
