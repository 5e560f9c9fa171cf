-- Threads that changed since they were indexed. Triggers write it, so that no writer can forget to, not even an older
-- release that runs beside this one. The stamp is random: it tells whether the thread changed again meanwhile.
CREATE TABLE search_due (
  organization_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (organization_id, thread_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE thread_search (
  -- 2048 times the activity of the thread, and then the next free number: the order of listings.
  number INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  -- Of the thread when it was indexed.
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  -- The beginning of the latest reply.
  line TEXT NOT NULL,
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX thread_search_thread ON thread_search (organization_id, thread_id);

-- The words of a thread. Each term starts with a hash of its owner and, if the thread is published, once more with a hash
-- of its organization, so that a search reads nothing of what others keep to themselves.
CREATE VIRTUAL TABLE thread_term USING fts5 (
  terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
-- Merged in small steps, as passage_term is.
INSERT INTO thread_term (thread_term, rank) VALUES ('automerge', 0);
INSERT INTO thread_term (thread_term, rank) VALUES ('crisismerge', 1999);

CREATE TRIGGER thread_search_removed AFTER DELETE ON thread_search BEGIN
  DELETE FROM thread_term WHERE rowid = old.number;
END;
CREATE TRIGGER thread_due_added AFTER INSERT ON thread BEGIN
  INSERT INTO search_due VALUES (new.organization_id, new.id, abs(random() % 9007199254740991))
  ON CONFLICT DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER thread_due_changed AFTER UPDATE OF title, account_id, published, deleted_at, activity_at ON thread BEGIN
  INSERT INTO search_due VALUES (new.organization_id, new.id, abs(random() % 9007199254740991))
  ON CONFLICT DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER thread_due_removed AFTER DELETE ON thread BEGIN
  DELETE FROM search_due WHERE organization_id = old.organization_id AND thread_id = old.id;
END;
-- Only what is finished is indexed: progress of a reply does not set its end.
CREATE TRIGGER thread_due_answered AFTER UPDATE OF completed_at ON message
  WHEN new.completed_at IS NOT old.completed_at BEGIN
  INSERT INTO search_due VALUES (new.organization_id, new.thread_id, abs(random() % 9007199254740991))
  ON CONFLICT DO UPDATE SET stamp = excluded.stamp;
END;

INSERT INTO search_due SELECT organization_id, id, abs(random() % 9007199254740991) FROM thread WHERE deleted = 0;
