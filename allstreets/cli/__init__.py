"""The command line: one file a verb. What a verb computes lives in the layers below."""
