-- A person may have several passwords until one is proven: one per organization's link.
CREATE TABLE password_of_person (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES user (id),
  -- With its method and parameters.
  hash TEXT NOT NULL,
  -- Whether it stands for the person everywhere, and not only where it accepted a membership.
  proven INTEGER NOT NULL CHECK (proven IN (0, 1)),
  set_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Who set the old ones is not known. They keep the memberships they opened, unless a provider has proven the address.
INSERT INTO password_of_person (id, user_id, hash, proven, set_at)
SELECT 'pwd_' || substr(user_id, 5), user_id, hash, 0, set_at FROM password
WHERE user_id NOT IN (SELECT user_id FROM identity);
DROP TABLE password;
ALTER TABLE password_of_person RENAME TO password;
CREATE INDEX password_of_user ON password (user_id);

-- The unproven password that the membership was accepted with.
ALTER TABLE member ADD COLUMN password_id TEXT REFERENCES password (id);
CREATE INDEX member_password ON member (password_id) WHERE password_id IS NOT NULL;
UPDATE member SET opened_at = NULL WHERE user_id IN (SELECT user_id FROM identity);
UPDATE member SET password_id = (SELECT id FROM password WHERE password.user_id = member.user_id)
WHERE opened_at IS NOT NULL;

-- Of a session proven by a password, which one.
ALTER TABLE session ADD COLUMN password_id TEXT REFERENCES password (id) ON DELETE CASCADE;
CREATE INDEX session_password ON session (password_id) WHERE password_id IS NOT NULL;
UPDATE session SET password_id = (SELECT id FROM password WHERE password.user_id = session.user_id)
WHERE proof = 'password';
DELETE FROM session WHERE proof = 'password' AND password_id IS NULL;

-- Whether the operator made the link, and so answers for who holds it.
ALTER TABLE invitation ADD COLUMN by_operator INTEGER NOT NULL DEFAULT 0 CHECK (by_operator IN (0, 1));
UPDATE invitation SET by_operator = resets;
