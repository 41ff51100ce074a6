"""The JSON schema of a record, and its checks."""
