"""The service: HTTP server, command line, SDK, offline use and bulk jobs."""
