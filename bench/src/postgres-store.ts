import { sql } from './postgres-server.ts';
import { temporaryFolder } from './processes.ts';
import { createThreadAndAwaitReply } from './requests.ts';
import { accountsAmong, type SeededStore } from './seed.ts';
import { type Service, skeinWith, startService } from './service.ts';

/** An organization with one member, and that member's key. */
export interface Organization {
  readonly id: string;
  readonly key: string;
  readonly userId: string;
}

const email = 'ada@bench.example';
const dailyQuota = '1000000000';
const idsKeptMax = 4096;

export async function createOrganization(url: string, name: string): Promise<Organization> {
  const command = (...words: string[]) => skeinWith({ SKEIN_DATABASE_URL: url }, temporaryFolder(), ...words);
  const { id } = await command('org', 'create', name, '--quota', dailyQuota);
  const { id: userId } = await command('member', 'add', id, email);
  const { key } = await command('key', 'create', id, '--user', email);
  return { id, key, userId };
}

/** Starts a node on the database, in its own folder. */
export function startNode(url: string, model: string, ...words: string[]): Promise<Service> {
  return startService(temporaryFolder(), { SKEIN_DATABASE_URL: url, SKEIN_MODEL: model }, words);
}

/** Starts a node that only serves requests and reads everything from the database, even what has not changed. */
export function startNodeWithoutCache(url: string): Promise<Service> {
  const environment = { SKEIN_DATABASE_URL: url, SKEIN_MODEL: 'scripted', SKEIN_CACHE_BYTES: '0' };
  return startService(temporaryFolder(), environment, ['--role', 'api']);
}

/**
 * Seeds the same organization as in the embedded store, inside PostgreSQL: half of the threads belong to the measured
 * user, one in ten of them published; the other half belongs to 49 colleagues, nine in ten published. Each thread is a
 * copy of one that the service wrote, so columns that this file does not know are correct, too.
 */
export async function seedDatabase(url: string, threads: number): Promise<SeededStore> {
  const { id: organization, key, userId } = await createOrganization(url, 'Bench');
  const command = (...words: string[]) => skeinWith({ SKEIN_DATABASE_URL: url }, temporaryFolder(), ...words);
  const { key: orgWideKey } = await command('key', 'create', organization, '--org-wide');
  const application = await command('app', 'create', organization, '--name', 'Bench');
  const node = await startNode(url, 'scripted');
  const pattern = await createThreadAndAwaitReply(node, key);
  await node.stop();

  await sql(url, seedText(organization, userId, pattern, threads));
  // The service would index the threads while requests are measured.
  await sql(url, 'DELETE FROM search_due;');
  const every = Math.max(1, Math.floor(threads / idsKeptMax));
  const ids = async (condition: string) =>
    (
      await sql(
        url,
        `SELECT id FROM thread WHERE ${condition} AND deleted_at IS NULL AND sequence % ${every} = 0 ORDER BY sequence;`,
      )
    ).map(([id]) => id!);
  const count = async (condition: string) => {
    const [row] = await sql(url, `SELECT count(*) FROM thread WHERE (${condition}) AND deleted_at IS NULL;`);
    return Number(row![0]);
  };
  const own = `user_id = '${userId}'`;
  const accountId = 'account-0';
  return {
    folder: '',
    threads,
    personalKey: key,
    orgWideKey,
    application,
    ownIds: await ids(own),
    publishedIds: await ids('published'),
    accountId,
    sizes: {
      personal: await count(`${own} OR published`),
      published: await count('published'),
      personalAccount: await count(`(${own} OR published) AND account_id = '${accountId}'`),
    },
  };
}

function seedText(organization: string, user: string, pattern: string, threads: number): string {
  return `
BEGIN;
CREATE FUNCTION pg_temp.numbered_id(prefix text, ms bigint, number bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT prefix || '_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', digit::int, 1), '' ORDER BY part, place DESC)
  FROM (
    SELECT 0 AS part, place, ((ms >> (5 * place)) & 31) + 1 AS digit FROM generate_series(0, 9) AS place
    UNION ALL
    SELECT 1, place, CASE WHEN place < 12 THEN ((number >> (5 * place)) & 31) + 1 ELSE 1 END
    FROM generate_series(0, 15) AS place
  ) AS digits $$;
CREATE FUNCTION pg_temp.chance(number bigint, what int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT (hashint8(number * 8 + what)::float8 + 2147483648) / 4294967296 $$;

CREATE TEMPORARY TABLE colleague AS
  SELECT number, pg_temp.numbered_id('usr', 1700000000000, number) AS id FROM generate_series(1, 49) AS number;
INSERT INTO "user" (id, email) SELECT id, 'colleague-' || number || '@bench.example' FROM colleague;
INSERT INTO member (organization_id, user_id, role, service, joined_at)
  SELECT '${organization}', id, 'member', false, 1700000000000 FROM colleague;

CREATE TEMPORARY TABLE seeded AS
  SELECT number, created_at, pg_temp.numbered_id('thr', created_at, number) AS id,
    pg_temp.chance(number, 0) < 0.5 AS own, 1 + floor(pg_temp.chance(number, 1) * 49) AS colleague,
    pg_temp.chance(number, 2) AS published_chance,
    CASE WHEN pg_temp.chance(number, 3) < 0.4
      THEN 'account-' || floor(pg_temp.chance(number, 4) * ${accountsAmong(threads)}) END AS account_id,
    CASE WHEN pg_temp.chance(number, 5) < 0.1 THEN created_at + 60000 END AS updated_at,
    CASE WHEN pg_temp.chance(number, 6) < 0.02 THEN created_at + 120000 END AS deleted_at,
    'What changed for customer ' || number || ' since last quarter?' AS title
  FROM (SELECT number, (extract(epoch FROM now()) * 1000)::bigint - 600000 - (${threads} - number) * 200 AS created_at
    FROM generate_series(1::bigint, ${threads}) AS number) AS moment;

INSERT INTO thread SELECT copy.* FROM thread AS pattern CROSS JOIN seeded
  LEFT JOIN colleague ON NOT own AND colleague.number = seeded.colleague
  CROSS JOIN LATERAL jsonb_populate_record(pattern, jsonb_build_object('id', seeded.id,
    'sequence', pattern.sequence + seeded.number, 'user_id', coalesce(colleague.id, '${user}'), 'title', seeded.title,
    'account_id', seeded.account_id, 'created_at', seeded.created_at, 'updated_at', seeded.updated_at,
    'activity_at', coalesce(seeded.updated_at, seeded.created_at),
    'published', published_chance < CASE WHEN own THEN 0.1 ELSE 0.9 END, 'deleted_at', seeded.deleted_at)) AS copy
  WHERE pattern.id = '${pattern}' ORDER BY seeded.number;
INSERT INTO message SELECT copy.* FROM message AS pattern CROSS JOIN seeded
  CROSS JOIN LATERAL jsonb_populate_record(pattern, jsonb_build_object('thread_id', seeded.id,
    'id', pg_temp.numbered_id('msg', seeded.created_at, seeded.number * 2 + (pattern.role = 'assistant')::int),
    'created_at', seeded.created_at,
    'completed_at', CASE WHEN pattern.role = 'assistant' THEN seeded.created_at + 900 END,
    'content', CASE WHEN pattern.role = 'user' THEN seeded.title ||
        ' Look at the support tickets, the renewal date and the last three calls, and say what matters.'
      ELSE 'You asked: ' || seeded.title || E'\\n\\n' ||
        repeat('The renewal is due in spring and two tickets about the export are open. ', 4) END)) AS copy
  WHERE pattern.thread_id = '${pattern}' ORDER BY seeded.number, pattern.role DESC;

UPDATE organization SET thread_sequence = (SELECT max(sequence) FROM thread WHERE organization_id = '${organization}')
  WHERE id = '${organization}';
DELETE FROM listing_size WHERE organization_id = '${organization}';
INSERT INTO listing_size (organization_id, user_id, account_key, threads, published)
  SELECT organization_id, row_user, row_account, sum(row_threads), sum(row_published) FROM thread
  CROSS JOIN LATERAL unnest(
    CASE WHEN account_id IS NULL THEN ARRAY[''] ELSE ARRAY['', '=' || account_id] END) AS row_account
  CROSS JOIN LATERAL (VALUES (user_id, 1, published::int), ('', 0, published::int)) AS part (row_user, row_threads, row_published)
  WHERE organization_id = '${organization}' AND deleted_at IS NULL AND (row_user <> '' OR published)
  GROUP BY organization_id, row_user, row_account;
COMMIT;
VACUUM ANALYZE;
CHECKPOINT;
`;
}
