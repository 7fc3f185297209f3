"""The server behind `t2v serve`: a JSON API over one index, and a page that uses it."""
