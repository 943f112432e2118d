"""Settings for all tests."""

import os

from hypothesis import settings

# Machines that run tests are busy: a slow example is not a failure.
settings.register_profile("default", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
