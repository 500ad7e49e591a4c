"""One module an area. Each holds ``TITLE`` and ``PARTS``, its measurements by name."""
