"""Pictures and pages: plain data in, files out."""
