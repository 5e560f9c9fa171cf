-- A document is read page by page, in the order of its passages.
DROP INDEX passage_document;
CREATE INDEX passage_document ON passage (organization_id, document_id, number);
