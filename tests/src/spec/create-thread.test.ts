import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  assertFails,
  assertInvalid,
  createThread,
  sharedWorld,
  type World,
} from '../../harness/world/world.ts';

describe('POST /threads', () => {
  let world: World;
  before(async () => {
    world = await sharedWorld();
  });

  describe('accepts', () => {
    it('returns 201 with the thread, the ids of both messages and the thread’s Location', async () => {
      const answer = await world.ada.create({ prompt: 'Hello' });
      assert.equal(answer.status, 201);
      assert.deepEqual(Object.keys(answer.body).sort(), ['messageId', 'responseMessageId', 'thread']);
      assert.equal(answer.headers.get('location'), `/api/v1/threads/${answer.body.thread.id}`);
      const { messages } = (await world.ada.get(answer.body.thread.id)).body;
      assert.deepEqual(
        messages.map(({ id, role }: any) => [id, role]),
        [
          [answer.body.messageId, 'user'],
          [answer.body.responseMessageId, 'assistant'],
        ],
      );
    });

    it('creates a thread that is neither published nor deleted nor updated', async () => {
      const { thread } = await createThread(world.ada);
      const { published, deleted, updatedAt } = thread;
      assert.deepEqual(
        { published, deleted, updatedAt },
        { published: false, deleted: false, updatedAt: null },
      );
    });

    it('stores the prompt unchanged as the first user message', async () => {
      const prompt = ' Ünïcode 👩‍👩‍👧‍👦 \t“quotes” \\ \u0001\r\n\u2028 e\u0301 é \u{10ffff}\n';
      const { thread, messageId } = await createThread(world.ada, { prompt });
      const first = (await world.ada.get(thread.id)).body.messages[0];
      assert.deepEqual([first.id, first.role, first.content], [messageId, 'user', prompt]);
    });

    it('accepts a prompt and a title of one character', async () => {
      const { thread } = await createThread(world.ada, { prompt: 'x', title: 'y' });
      assert.equal(thread.title, 'y');
      assert.equal((await world.ada.get(thread.id)).body.messages[0].content, 'x');
    });

    it('stores the given title unchanged', async () => {
      const title = '  A title\nof two lines  ';
      const { thread } = await createThread(world.ada, { title });
      assert.equal(thread.title, title);
      assert.equal((await world.ada.get(thread.id)).body.thread.title, title);
    });

    it('generates the title from the first line of the prompt when none is given', async () => {
      const { thread } = await createThread(world.ada, { prompt: 'When does it renew?\nPlease be brief.' });
      assert.equal(thread.title, 'When does it renew?');
    });

    it('truncates a generated title at a word boundary, within 80 graphemes', async () => {
      const word = '🇫🇷e\u0301👍🏽';
      const { thread } = await createThread(world.ada, { prompt: Array(40).fill(word).join(' ') });
      // 20 words of 3 graphemes and the 19 spaces between them: a 21st would make 83.
      assert.equal(thread.title, `${Array(20).fill(word).join(' ')}…`);
    });

    it('generates a title without control or invisible characters', async () => {
      const { thread } = await createThread(world.ada, {
        prompt: '\u200b\n\u202eRefunds\u0007 for\tyou?\u2060',
      });
      assert.equal(thread.title, 'Refunds for you?');
      assert.equal(
        (await createThread(world.ada, { prompt: '\u200b\u3164\u0007' })).thread.title,
        'New thread',
      );
      const given = await createThread(world.ada, { prompt: 'x', title: '\u202e\u200b' });
      assert.equal(given.thread.title, '\u202e\u200b');
    });

    it('generates the same title for the same prompt', async () => {
      const prompt = 'A long question '.repeat(20);
      const [one, other] = [
        await createThread(world.ada, { prompt }),
        await createThread(world.ada, { prompt }),
      ];
      assert.notEqual(one.thread.id, other.thread.id);
      assert.equal(one.thread.title, other.thread.title);
    });

    it('stores whitespace-only text unchanged and titles the thread New thread', async () => {
      const untitled = await createThread(world.ada, { prompt: ' \n\t ' });
      assert.equal(untitled.thread.title, 'New thread');
      assert.equal((await world.ada.get(untitled.thread.id)).body.messages[0].content, ' \n\t ');
      assert.equal((await createThread(world.ada, { title: ' ' })).thread.title, ' ');
    });

    it('associates the thread with the given account', async () => {
      const { thread } = await createThread(world.ada, { accountId: 'acc_create' });
      assert.equal(thread.accountId, 'acc_create');
      const listed = await world.ada.walk({ accountId: 'acc_create' });
      assert.deepEqual(
        listed.map(({ id }) => id),
        [thread.id],
      );
    });

    it('stores the given secondary linkage', async () => {
      const { thread } = await createThread(world.ada, { secondaryId: 'opp_42' });
      assert.equal(thread.secondaryId, 'opp_42');
      assert.equal((await world.ada.get(thread.id)).body.thread.secondaryId, 'opp_42');
    });

    it('ignores unknown fields', async () => {
      const foreign = {
        id: 'thr_00000000000000000000000000',
        createdAt: '2001-01-01T00:00:00.000Z',
        updatedAt: '2001-01-01T00:00:00.000Z',
        published: true,
        deleted: true,
        threadUrl: 'https://elsewhere.example',
        userId: 'usr_00000000000000000000000000',
        organizationId: world.globex,
        status: 'completed',
      };
      const { thread } = await createThread(world.ada, { ...foreign, title: 'Mine' });
      const kept = (await world.ada.get(thread.id)).body.thread;
      for (const [name, value] of Object.entries(foreign)) {
        assert.notEqual(thread[name], value, name);
        assert.notEqual(kept[name], value, name);
      }
      assertFails(await world.eve.get(thread.id), 'NOT_FOUND');
      for (const field of ['"__proto__":{"title":"x"}', '"constructor":{"prototype":{"title":"x"}}']) {
        const raw = `{"prompt":"Mine",${field},"a":[{${field}}]}`;
        const { status, body } = await world.ada.call('POST', '/threads', { raw });
        assert.deepEqual([status, body.thread?.title], [201, 'Mine'], raw);
      }
    });

    it('measures the length limits in code points', async () => {
      const { thread } = await createThread(world.ada, {
        prompt: '🧶'.repeat(100_000),
        title: '🧶'.repeat(500),
        accountId: '🧶'.repeat(255),
        secondaryId: '🧶'.repeat(255),
      });
      const { body } = await world.ada.get(thread.id);
      assert.equal(body.messages[0].content, '🧶'.repeat(100_000));
      assert.equal(body.thread.title, '🧶'.repeat(500));
    });

    it('accepts application/json in any spelling that means UTF-8', async () => {
      for (const type of [
        'application/json',
        'application/json; charset=utf-8',
        'Application/JSON;charset="UTF-8"',
        'application/json; charset=utf8',
        'application/json;charset="Utf8"',
        'application/json; version=2; charset=UTF-8; profile="a;b=\\"c"',
        'application/json ; odata=verbose',
      ]) {
        const answer = await world.ada.create({ prompt: 'Hello' }, { 'content-type': type });
        assert.equal(answer.status, 201, type);
      }
    });
  });

  describe('rejects', () => {
    it('rejects a body whose prompt is missing, empty or not a string', async () => {
      assertInvalid(await world.ada.create({}), 'prompt', 'no prompt');
      for (const prompt of ['', null, 5, true, [], ['Hello'], {}]) {
        assertInvalid(await world.ada.create({ prompt }), 'prompt', JSON.stringify(prompt));
      }
    });

    it('rejects a title that is empty or not a string', async () => {
      for (const title of ['', 5, false, [], {}]) {
        assertInvalid(await world.ada.create({ prompt: 'Hello', title }), 'title', JSON.stringify(title));
      }
    });

    it('rejects an accountId or secondaryId that is not a string', async () => {
      for (const field of ['accountId', 'secondaryId']) {
        for (const value of [7, true, [], {}]) {
          assertInvalid(
            await world.ada.create({ prompt: 'Hello', [field]: value }),
            field,
            JSON.stringify(value),
          );
        }
      }
    });

    it('rejects null for an optional field', async () => {
      for (const field of ['title', 'accountId', 'secondaryId']) {
        assertInvalid(await world.ada.create({ prompt: 'Hello', [field]: null }), field);
      }
    });

    it('rejects a body that is not a JSON object', async () => {
      for (const raw of [
        '',
        '{',
        '{"prompt":"x"}}',
        "{'prompt':'x'}",
        '{"prompt":"x",}',
        '[]',
        '"x"',
        '7',
        'null',
      ]) {
        assertFails(await world.ada.call('POST', '/threads', { raw }), 'INVALID_PARAMS', raw);
      }
      assertFails(await world.ada.call('POST', '/threads'), 'INVALID_PARAMS', 'no body');
    });

    it('rejects a body that is not sent as application/json', async () => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json; charset=utf-16',
        'application/json; charset=utf-8; charset=utf-16',
        'application/json; version=2; charset="latin1"',
        'application/json, text/plain',
      ]) {
        const answer = await world.ada.create({ prompt: 'Hello' }, { 'content-type': type });
        assertFails(answer, 'INVALID_PARAMS', type);
      }
    });

    it('rejects text one code point above the length limits', async () => {
      const lengths = { prompt: 100_000, title: 500, accountId: 255, secondaryId: 255 };
      for (const [field, length] of Object.entries(lengths)) {
        assertInvalid(await world.ada.create({ prompt: 'Hello', [field]: 'x'.repeat(length + 1) }), field);
      }
    });

    it('rejects a body above 1 MiB and accepts one of exactly 1 MiB', async () => {
      const padded = (bytes: number) => `{"prompt":"x"${' '.repeat(bytes - 14)}}`;
      const largest = await world.ada.call('POST', '/threads', { raw: padded(1_048_576) });
      assert.equal(largest.status, 201);
      const answer = await world.ada.call('POST', '/threads', { raw: padded(1_048_577) });
      assertFails(answer, 'INVALID_PARAMS');
    });

    it('rejects NUL, lone surrogates and invalid UTF-8, and names the field', async () => {
      for (const field of ['prompt', 'title', 'accountId', 'secondaryId']) {
        for (const text of ['a\\u0000b', 'a\\ud800b', '\\udc00', '\\udc00\\ud800']) {
          const raw = `{"prompt":"x","${field}":"${text}"}`.replace('"prompt":"x","prompt"', '"prompt"');
          assertInvalid(await world.ada.call('POST', '/threads', { raw }), field, raw);
        }
        const invalid = Buffer.from(
          `{"prompt":"x","${field}":"a?b"}`.replace('"prompt":"x","prompt"', '"prompt"'),
        );
        invalid[invalid.indexOf('?')] = 0xff;
        assertInvalid(await world.ada.call('POST', '/threads', { raw: invalid }), field, 'invalid UTF-8');
      }
    });

    it('also limits the keys of a body that is not valid UTF-8', async () => {
      const keys = Array.from({ length: 1001 }, (_, place) => `"k${place}":0`).join();
      const raw = Buffer.from(`{"prompt":"?",${keys}}`);
      raw[raw.indexOf('?')] = 0xff;
      const answer = await world.ada.call('POST', '/threads', { raw });
      assertInvalid(answer, 'body', 'too many keys');
      assert.match(answer.body.error.message, /1,000 keys/);
    });

    it('names the first invalid field without repeating its value', async () => {
      for (const fields of [{ accountId: 4711 }, { secondaryId: 'secret'.repeat(50) }]) {
        const { body } = await world.ada.create({ prompt: 'x', ...fields });
        assert.ok(body.error.message.startsWith(`\`${Object.keys(fields)[0]}\` must`), body.error.message);
        assert.doesNotMatch(body.error.message, /4711|secret/);
      }
      const { body } = await world.ada.create({ title: '', accountId: 4711 });
      assert.match(body.error.message, /^Missing required field `prompt`\.$/);
    });

    it('rejects a duplicate key by name, and a body with more than 1,000 keys', async () => {
      for (const raw of ['{"prompt":"a","prompt":"b"}', '{"prompt":"a","p\\u0072ompt":"a"}']) {
        assertInvalid(await world.ada.call('POST', '/threads', { raw }), 'prompt', raw);
      }
      const keys = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
      assert.equal((await world.ada.create({ ...keys(999), prompt: 'x' })).status, 201);
      assertInvalid(await world.ada.create({ ...keys(1_000), prompt: 'x' }), 'body');
    });

    it('stores nothing when it rejects a request', async () => {
      const accountId = 'acc_refused';
      assertFails(await world.ada.create({ prompt: '', accountId }), 'INVALID_PARAMS');
      assertFails(await world.ada.create({ prompt: 'x', title: null, accountId }), 'INVALID_PARAMS');
      assertFails(await world.acmeWide.create({ prompt: 'x', accountId }), 'FORBIDDEN');
      assertFails(await world.nobody.create({ prompt: 'x', accountId }), 'UNAUTHORIZED');
      assert.deepEqual(await world.ada.walk({ accountId }), []);
      const { thread } = await createThread(world.ada, { accountId });
      assert.equal((await world.ada.walk({ accountId }))[0]?.id, thread.id);
    });
  });

  describe('protects', () => {
    it('requires a user: an org-wide credential may not create threads', async () => {
      assertFails(await world.acmeWide.create({ prompt: 'Hello' }), 'FORBIDDEN');
    });

    it('requires a credential', async () => {
      assertFails(await world.nobody.create({ prompt: 'Hello' }), 'UNAUTHORIZED');
    });

    it('attributes the thread to the owner of the key, and nobody else sees it', async () => {
      const { thread } = await createThread(world.ada);
      assert.equal((await world.ada.get(thread.id)).status, 200);
      for (const other of [world.ben, world.acmeWide, world.eve]) {
        assertFails(await other.get(thread.id), 'NOT_FOUND');
      }
    });
  });
});
