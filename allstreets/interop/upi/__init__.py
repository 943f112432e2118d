"""PioSOLVER's text protocol (UPI), spoken by this solver."""
