import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import fc from 'fast-check';
import type { Api } from '../../harness/http/api.ts';
import { sendMany } from '../../harness/http/load.ts';
import type { Service } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import { describeOnEachEngine, partFor } from '../../harness/world/engines.ts';
import {
  makeMember,
  makeOrganization,
  makeOrgWideKey,
  makePersonalKey,
} from '../../harness/world/tenants.ts';

/** A listing and the cursor of its second page. */
interface Walked {
  readonly name: string;
  readonly api: Api;
  readonly accountId: string | undefined;
  readonly cursor: string;
  readonly secondPage: string[];
}

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describeOnEachEngine('A cursor', (engine) => {
  const numRuns = engine.engine === 'SQLite' ? 150 : 30;
  let service: Service;
  let walked: Walked[];
  let otherKeyOfAda: Api;
  let otherOrgWideKey: Api;

  before(async () => {
    service = await sharedService(await engine.sharedStore());
    const [home, away] = await Promise.all([
      makeOrganization(service, 'Home'),
      makeOrganization(service, 'Away'),
    ]);
    const [ada, ben, adaAway, orgWide, secondOrgWide] = await Promise.all([
      makeMember(service, home, 'ada@example.com'),
      makeMember(service, home, 'ben@example.com'),
      // The same person in another organization is another principal.
      makeMember(service, away, 'ada@example.com'),
      makeOrgWideKey(service, home),
      makeOrgWideKey(service, home),
    ]);
    otherKeyOfAda = (await makePersonalKey(service, home, 'ada@example.com')).api;
    otherOrgWideKey = secondOrgWide.api;
    for (const { api } of [ada, ben, adaAway]) {
      for (const accountId of ['x', 'x', 'y', 'y']) await api.create({ prompt: 'A thread', accountId });
    }
    const published = (await ada.api.walk()).map(({ id }) => id);
    await Promise.all(published.map((id) => service.skein('thread', 'publish', home, id)));

    const principals = { ada: ada.api, ben: ben.api, 'ada elsewhere': adaAway.api, 'org-wide': orgWide.api };
    walked = await Promise.all(
      Object.entries(principals).flatMap(([name, api]) =>
        [undefined, 'x', 'y'].map((accountId) => beginWalk(name, api, accountId)),
      ),
    );
  });

  it('returns the next page repeatedly, with every key of the same principal', async () => {
    for (const listing of walked) assert.deepEqual(await pageAfter(listing.api, listing), listing.secondPage);
    const [ofAda] = walked.filter(({ name }) => name === 'ada') as [Walked];
    const [ofOrgWide] = walked.filter(({ name }) => name === 'org-wide') as [Walked];
    assert.deepEqual(await pageAfter(otherKeyOfAda, ofAda), ofAda.secondPage);
    assert.deepEqual(await pageAfter(otherOrgWideKey, ofOrgWide), ofOrgWide.secondPage);
  });

  it('is rejected in every other listing: of another principal, account or organization', async () => {
    let used = 0;
    for (const { cursor, ...from } of walked) {
      for (const into of walked) {
        if (into.name === from.name && into.accountId === from.accountId) continue;
        await assertMalformed(
          into,
          cursor,
          `${from.name} ${from.accountId} in ${into.name} ${into.accountId}`,
        );
        used += 1;
      }
    }
    assert.equal(used, 12 * 11);
  });

  it('is rejected when any one character is changed, removed or inserted, or when it is truncated', async () => {
    const [listing, second] = walked as [Walked, Walked];
    const altered = new Set(partFor(engine, [...alterations(listing.cursor)]));
    altered.add(listing.cursor + second.cursor).add(listing.cursor + listing.cursor);
    altered.delete(listing.cursor);
    assert.ok(altered.size > 2 * listing.cursor.length, `${altered.size} alterations`);

    await sendMany(altered.size, 8, async () => {
      const [next] = altered;
      altered.delete(next as string);
      await assertMalformed(listing, next as string);
    });
    assert.equal(altered.size, 0);
    assert.deepEqual(await pageAfter(listing.api, listing), listing.secondPage);
  });

  it('is rejected when any of its bytes differ', async () => {
    const [listing] = walked as [Walked];
    const bytes = Buffer.from(listing.cursor, 'base64url');
    assert.equal(bytes.toString('base64url'), listing.cursor, 'the cursor is base64url');
    const changes = fc.array(
      fc.record({ at: fc.nat(bytes.length - 1), by: fc.integer({ min: 1, max: 255 }) }),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        const changed = Buffer.from(bytes);
        for (const { at, by } of list) changed[at] = (changed[at] as number) ^ by;
        fc.pre(!changed.equals(bytes));
        await assertMalformed(listing, changed.toString('base64url'));
      }),
      { numRuns },
    );
  });

  it('is rejected when it was never issued', async () => {
    const [listing] = walked as [Walked];
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'grapheme' }),
          fc.base64String(),
          fc.json(),
          fc.uint8Array({ maxLength: 200 }),
        ),
        async (made) => {
          const text = typeof made === 'string' ? made : Buffer.from(made).toString('base64url');
          await assertMalformed(listing, text);
        },
      ),
      { numRuns, examples: [[''], ['null'], ['0'], ['undefined'], ['1']] },
    );
  });
});

async function beginWalk(name: string, api: Api, accountId: string | undefined): Promise<Walked> {
  const query = accountId === undefined ? {} : { accountId };
  const { body } = await api.list({ ...query, limit: 1 });
  assert.ok(body.nextCursor, `${name} has a second page`);
  const begun = { name, api, accountId, cursor: body.nextCursor, secondPage: [] };
  const secondPage = await pageAfter(api, begun);
  assert.ok(secondPage.length > 0 && !secondPage.includes(body.threads[0].id));
  return { ...begun, secondPage };
}

async function pageAfter(api: Api, { cursor, accountId }: Walked): Promise<string[]> {
  const { status, body } = await api.list({ cursor, ...(accountId !== undefined && { accountId }) });
  assert.equal(status, 200);
  return body.threads.map(({ id }: { id: string }) => id);
}

type Used = Pick<Walked, 'api' | 'accountId'>;

async function assertMalformed({ api, accountId }: Used, cursor: string, how = cursor): Promise<void> {
  const { status, body } = await api.list({ cursor, ...(accountId !== undefined && { accountId }) });
  assert.deepEqual({ status, code: body.error?.code }, { status: 400, code: 'INVALID_PARAMS' }, how);
}

/** Every change, removal and insertion of one character, every prefix and every suffix. */
function* alterations(cursor: string): Generator<string> {
  for (let place = 0; place <= cursor.length; place += 1) {
    const head = cursor.slice(0, place);
    const tail = cursor.slice(place);
    for (const inserted of ['A', '_', '=', ' ', '\n']) yield head + inserted + tail;
    yield head;
    yield tail;
    if (tail === '') continue;
    for (const other of replacements(tail.charAt(0))) yield head + other + tail.slice(1);
    yield head + tail.slice(1);
  }
  // The last character has unused bits, so several spellings decode to the same bytes. All but one must be rejected.
  for (const last of base64url) yield cursor.slice(0, -1) + last;
  for (const padding of ['=', '==', '%', '\0', '\u00e9', '.']) yield cursor + padding;
}

function* replacements(character: string): Generator<string> {
  yield base64url.charAt((base64url.indexOf(character) + 1) % 64);
  yield character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase();
  // The same value in the other alphabet of RFC 4648, and characters that decoders skip.
  yield character === '-' ? '+' : character === '_' ? '/' : '+';
  yield '=';
}
