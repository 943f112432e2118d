"""The certificate: how exploitable a solution is when it is played with real cards."""
