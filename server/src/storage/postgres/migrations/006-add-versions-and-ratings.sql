-- The prompt that an edited prompt replaces.
ALTER TABLE message ADD COLUMN replaces text COLLATE "C";
-- Since when the reply is listed as unanswered: completed_at if it found no answer, a later time if a person rated it down.
ALTER TABLE message ADD COLUMN unanswered_at bigint;
CREATE INDEX message_unanswered ON message (organization_id, unanswered_at, id) WHERE unanswered_at IS NOT NULL;

-- What a person thinks of a reply.
CREATE TABLE rating (
  organization_id text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  value text NOT NULL CHECK (value IN ('up', 'down')),
  comment text,
  rated_at bigint NOT NULL,
  PRIMARY KEY (organization_id, thread_id, message_id, user_id),
  FOREIGN KEY (organization_id, thread_id, message_id) REFERENCES message (organization_id, thread_id, id) ON DELETE CASCADE
);
-- For a purge of the person.
CREATE INDEX rating_of_person ON rating (organization_id, user_id);
