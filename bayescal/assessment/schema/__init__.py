"""The JSON schema of a record, and a record held against it."""
