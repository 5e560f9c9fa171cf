-- Threads that changed since they were indexed. Triggers write it, so that no writer can forget to, not even an older
-- release that runs beside this one. The stamp is random: it tells whether the thread changed again meanwhile.
CREATE TABLE search_due (
  organization_id text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  stamp bigint NOT NULL,
  -- Until when a node is indexing the thread. Others leave it alone.
  taken_until bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, thread_id)
);

CREATE TABLE thread_search (
  organization_id text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  activity_at bigint NOT NULL,
  -- Of the thread when it was indexed.
  version bigint NOT NULL,
  state text NOT NULL,
  -- The beginning of the latest reply.
  line text NOT NULL,
  -- The words of the thread. Each starts with a hash of its owner and, if the thread is published, once more with a hash of
  -- its organization, so that a search reads nothing of what others keep to themselves.
  terms tsvector NOT NULL,
  PRIMARY KEY (organization_id, thread_id),
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id) ON DELETE CASCADE
);
-- Texts and terms are stored apart, because a search for a frequent word reads many rows, but not their terms.
ALTER TABLE thread_search ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN line SET STORAGE EXTERNAL,
  SET (toast_tuple_target = 128);
CREATE INDEX thread_search_terms ON thread_search USING gin (terms) WITH (gin_pending_list_limit = 512);

CREATE FUNCTION search_stamp() RETURNS bigint LANGUAGE sql AS 'SELECT (random() * 9007199254740991)::bigint';

CREATE FUNCTION threads_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_due (organization_id, thread_id, stamp) SELECT organization_id, id, search_stamp() FROM added
  ON CONFLICT (organization_id, thread_id) DO UPDATE SET stamp = excluded.stamp, taken_until = 0;
  RETURN NULL;
END $$;
CREATE FUNCTION thread_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_due (organization_id, thread_id, stamp) VALUES (NEW.organization_id, NEW.id, search_stamp())
  ON CONFLICT (organization_id, thread_id) DO UPDATE SET stamp = excluded.stamp, taken_until = 0;
  RETURN NULL;
END $$;
CREATE FUNCTION thread_of_message_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_due (organization_id, thread_id, stamp) VALUES (NEW.organization_id, NEW.thread_id, search_stamp())
  ON CONFLICT (organization_id, thread_id) DO UPDATE SET stamp = excluded.stamp, taken_until = 0;
  RETURN NULL;
END $$;
CREATE FUNCTION thread_not_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_due WHERE organization_id = OLD.organization_id AND thread_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER thread_due_added AFTER INSERT ON thread REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION threads_due();
CREATE TRIGGER thread_due_changed AFTER UPDATE ON thread FOR EACH ROW
  WHEN ((OLD.title, OLD.account_id, OLD.published, OLD.deleted_at, OLD.activity_at)
    IS DISTINCT FROM (NEW.title, NEW.account_id, NEW.published, NEW.deleted_at, NEW.activity_at))
  EXECUTE FUNCTION thread_due();
CREATE TRIGGER thread_due_removed AFTER DELETE ON thread FOR EACH ROW EXECUTE FUNCTION thread_not_due();
-- Only what is finished is indexed: progress of a reply does not set its end.
CREATE TRIGGER thread_due_answered AFTER UPDATE ON message FOR EACH ROW
  WHEN (OLD.completed_at IS DISTINCT FROM NEW.completed_at) EXECUTE FUNCTION thread_of_message_due();

INSERT INTO search_due (organization_id, thread_id, stamp)
SELECT organization_id, id, search_stamp() FROM thread WHERE deleted_at IS NULL;
