-- The running reply of a thread. Without it the search reads every page of the thread's texts: 15 ms in a thread of 10 MB.
CREATE INDEX message_running ON message (organization_id, thread_id)
  WHERE status IN ('in_progress', 'corroborating');
