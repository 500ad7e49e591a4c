"""What a study came to: findings as data, and pages that show them."""
