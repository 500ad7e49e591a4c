"""Who may come in: passwords, sign-ins, invitation links and personal tokens."""
