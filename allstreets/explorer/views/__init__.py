"""Solutions as the page walks them: spots, and what lies below roots (whole games, flops)."""
