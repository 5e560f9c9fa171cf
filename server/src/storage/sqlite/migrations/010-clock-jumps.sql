-- When leases and deadlines were last moved because the clock had been set forward.
ALTER TABLE store_clock ADD COLUMN jump_at INTEGER NOT NULL DEFAULT 0;
