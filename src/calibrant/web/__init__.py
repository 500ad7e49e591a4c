"""The web application: pages for people, and an API for programs. It parses, calls and shows."""
