-- Questions that a document answers, as a JSON array. Null: they have not been made yet.
ALTER TABLE document ADD COLUMN questions TEXT;
CREATE INDEX document_without_questions ON document (organization_id, id) WHERE questions IS NULL AND state = 'ready';
