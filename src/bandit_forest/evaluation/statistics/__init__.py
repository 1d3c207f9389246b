"""Pure functions of arrays: estimators, their intervals and confidence sequences."""
