-- Which statements of the reply its sources say, as JSON. Null in replies that were not checked.
ALTER TABLE message ADD COLUMN verdict text;
