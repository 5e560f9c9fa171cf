-- A search for frequent words reads the newest entries first.
CREATE INDEX thread_search_recency ON thread_search (organization_id, activity_at, thread_id);
