"""What clusters of cases do to the information on a curve."""
