-- A person may have several passwords until one is proven: one per organization's link.
ALTER TABLE password RENAME TO password_of_person;
CREATE TABLE password (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  -- With its method and parameters.
  hash text NOT NULL,
  -- Whether it stands for the person everywhere, and not only where it accepted a membership.
  proven boolean NOT NULL,
  set_at bigint NOT NULL
);
-- Who set the old ones is not known. They keep the memberships they opened, unless a provider has proven the address.
INSERT INTO password (id, user_id, hash, proven, set_at)
SELECT 'pwd_' || substr(user_id, 5), user_id, hash, false, set_at FROM password_of_person
WHERE user_id NOT IN (SELECT user_id FROM identity);
DROP TABLE password_of_person;
CREATE INDEX password_of_user ON password (user_id);

-- The unproven password that the membership was accepted with.
ALTER TABLE member ADD COLUMN password_id text COLLATE "C" REFERENCES password (id);
CREATE INDEX member_password ON member (password_id) WHERE password_id IS NOT NULL;
UPDATE member SET opened_at = NULL WHERE user_id IN (SELECT user_id FROM identity);
UPDATE member SET password_id = (SELECT id FROM password WHERE password.user_id = member.user_id)
WHERE opened_at IS NOT NULL;

-- Of a session proven by a password, which one.
ALTER TABLE session ADD COLUMN password_id text COLLATE "C" REFERENCES password (id) ON DELETE CASCADE;
CREATE INDEX session_password ON session (password_id) WHERE password_id IS NOT NULL;
UPDATE session SET password_id = (SELECT id FROM password WHERE password.user_id = session.user_id)
WHERE proof = 'password';
DELETE FROM session WHERE proof = 'password' AND password_id IS NULL;
ALTER TABLE session ADD CHECK ((proof = 'password') = (password_id IS NOT NULL));

-- Whether the operator made the link, and so answers for who holds it.
ALTER TABLE invitation ADD COLUMN by_operator boolean NOT NULL DEFAULT false;
UPDATE invitation SET by_operator = resets;
