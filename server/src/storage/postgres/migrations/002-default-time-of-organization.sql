-- An organization is created without a time of its own: the first change of its listings sets it.
ALTER TABLE organization ALTER COLUMN latest_at SET DEFAULT 0;
