"""Real boards, hands in buckets."""
