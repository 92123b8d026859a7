"""The page that the server shows a browser, and pages with results that are saved as one file.

Does: hold the page's files in `assets`, read them, build saved pages. Does not: answer requests (`http/page_routes`).
"""
