"""Assessments of several imputations: tables of estimates combined, and words about them."""
