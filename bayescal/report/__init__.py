"""What people read: the page of an assessment, and the files of every page."""
