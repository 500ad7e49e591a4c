"""The built-in rubrics: YAML files, nothing else."""
