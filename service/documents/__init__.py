"""Documents as files: PDF, DOCX, spreadsheets, HTML, mail and text, read to one normalised text.

Files are hostile until they are read: `document_reader` has them read in child processes with hard limits
(`child_process`), in which `parse_document` picks the reader of a format by what the content is (`recognise`).
"""
