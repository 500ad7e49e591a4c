"""The command line: parse, call, show. No command knows anything the library does not."""
