"""Files in, files out: rubric documents, items, answers, verdicts, handbooks."""
