import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type SettingsWorld, startSettingsWorld } from '../../../harness/console/settings-world.ts';
import { smallPdf } from '../../../harness/console/small-pdf.ts';
import { assertDone, assertRefused } from '../../../harness/console/visitor.ts';
import { Api } from '../../../harness/http/api.ts';

const bytesMax = 200_000;

describe('Documents in the console', () => {
  let world: SettingsWorld;
  let api: Api;
  before(async () => {
    world = await startSettingsWorld({
      SKEIN_MODEL: 'extractive',
      SKEIN_DOCUMENT_BYTES_MAX: String(bytesMax),
    });
    const { key } = assertDone(await world.ada.post('/keys', { name: 'Ask', scope: 'personal' }), 201);
    api = new Api(world.service.baseUrl, key);
  });
  after(() => world?.end());

  async function listed(id: string) {
    return assertDone(await world.ada.get('/documents')).documents.find((one: any) => one.id === id);
  }

  async function add(name: string, file: string, accountId?: string) {
    const answer = await world.ada.upload({ name, ...(accountId && { accountId }) }, file);
    return assertDone(answer, 201);
  }

  async function remove(...ids: string[]) {
    return assertDone(await world.ada.post('/documents/remove', { ids }));
  }

  async function replyTo(prompt: string, accountId?: string): Promise<string> {
    const { body } = await api.create({ prompt, ...(accountId && { accountId }) });
    return (await api.untilDone(body.thread.id)).messages[1].content;
  }

  describe('accepts', () => {
    it('Markdown, which replies use until it is removed', async () => {
      const made = await add('warranty.md', '# Warranty\n\nEvery umbrella has a warranty of seven years.\n');
      assert.match(made.id, /^doc_/);
      assert.deepEqual(made, { id: made.id, title: 'Warranty', passages: 1, replaced: false });
      const { addedAt, ...shown } = await listed(made.id);
      assert.ok(Date.parse(addedAt) > 0);
      assert.deepEqual(shown, {
        id: made.id,
        name: 'warranty.md',
        title: 'Warranty',
        accountId: null,
        passages: 1,
      });
      const question = 'How long is the warranty of an umbrella?';
      assert.match(await replyTo(question), /seven years/);
      assert.deepEqual(await remove(made.id), { handled: 1, removed: 1 });
      assert.equal(await listed(made.id), undefined);
      assert.doesNotMatch(await replyTo(question), /seven years/);
    });

    it('HTML and PDF', async () => {
      const html = await add('shipping.html', '<title>Shipping</title><p>Parcels leave on Tuesdays.</p>');
      assert.equal(html.title, 'Shipping');
      assert.match(await replyTo('When do parcels leave?'), /Tuesdays/);
      await add('holidays.pdf', smallPdf('The office is closed on Midsummer Day.'));
      assert.match(await replyTo('When is the office closed?'), /Midsummer Day/);
    });

    it('a document for one account, which replies to other accounts do not use', async () => {
      const { id } = await add('discount.md', '# Discount\n\nThe discount is eleven percent.\n', 'account 1');
      assert.equal((await listed(id)).accountId, 'account 1');
      assert.match(await replyTo('How much is the discount?', 'account 1'), /eleven percent/);
      assert.doesNotMatch(await replyTo('How much is the discount?', 'account 2'), /eleven percent/);
    });

    it('a file with the same name and account, which replaces the first', async () => {
      const first = await add('prices ü.txt', 'The price is five.');
      const second = await add('prices ü.txt', 'The price is six.');
      assert.deepEqual([second.id, second.replaced], [first.id, true]);
      assert.equal((await listed(first.id)).name, 'prices ü.txt');
      assert.equal((await add('prices ü.txt', 'The price is seven.', 'A')).replaced, false);
    });

    it('a name and a title without control and invisible characters', async () => {
      const { id, title } = await add('a\u0007b\u202E.md', '# Re\u200Bfunds\u0001\n\nThirty days.\n');
      assert.deepEqual([title, (await listed(id)).name], ['Refunds', 'ab.md']);
      assert.equal((await add('blank.md', '# \u2800\n\nThirty days.\n')).title, 'blank.md');
    });

    it('two files at once', async () => {
      const names = ['part-1.md', 'part-2.md'];
      await Promise.all(names.map((name) => add(name, `# ${name}\n\nThis is ${name}.\n`)));
      const { documents } = assertDone(await world.ada.get('/documents'));
      const known = new Set(documents.map((one: any) => one.name));
      assert.deepEqual(
        names.filter((name) => !known.has(name)),
        [],
      );
    });

    it('the removal of many documents in one request, with an audit entry for each', async () => {
      const names = ['many-1.md', 'many-2.md', 'many-3.md'];
      const ids: string[] = [];
      for (const name of names) ids.push((await add(name, `# ${name}\n\nThis is ${name}.\n`)).id);
      assert.deepEqual(await remove(ids[0]!, 'doc_nonsense', ids[1]!), { handled: 3, removed: 2 });
      assert.deepEqual(await remove(...ids), { handled: 3, removed: 1 });
      for (const id of ids) assert.equal(await listed(id), undefined);
      const { events } = assertDone(await world.ada.get('/audit?action=document.removed&limit=3'));
      assert.deepEqual(
        events.map(({ subject, detail }: any) => [subject, detail.name]),
        ids.map((id, at) => [id, names[at]]).reverse(),
      );
    });

    it('the removal of large documents in several requests', async () => {
      const sections = Array.from({ length: 4_999 }, (_, at) => `## Part ${at}\n\nThis is part ${at}.\n`);
      const large = await add('large.md', sections.join('\n'));
      assert.equal(large.passages, 4_999);
      const small = [];
      for (const name of ['s.md', 't.md']) small.push((await add(name, '# Small\n\nThis is small.\n')).id);
      assert.deepEqual(await remove(large.id, ...small), { handled: 2, removed: 2 });
      assert.ok(await listed(small[1]!));
      assert.deepEqual(await remove(small[1]!), { handled: 1, removed: 1 });
    });

    it('a list for members, with supported formats and the budget', async () => {
      const { endings } = assertDone(await world.ben.get('/documents'));
      for (const ending of ['.md', '.html', '.pdf', '.txt']) assert.ok(endings.includes(ending));
      assert.equal(world.ben.client.session.limits.documentBytesMax, bytesMax);
    });
  });

  describe('rejects', () => {
    const unreadable: [name: string, file: string, reason: RegExp][] = [
      ['noise.pdf', 'not a PDF at all', /^noise\.pdf .*damaged/],
      ['empty.md', '', /^empty\.md /],
      ['picture.png', 'PNG', /^picture\.png /],
      ['no-ending', 'text', /^no-ending /],
      [`${'x'.repeat(600)}.md`, 'text', /600 characters/],
    ];
    for (const [name, file, reason] of unreadable) {
      it(`${name.slice(0, 20)}, and says why`, async () => {
        const before = assertDone(await world.ada.get('/documents')).documents;
        assertRefused(await world.ada.upload({ name }, file), 400, reason);
        assert.deepEqual(assertDone(await world.ada.get('/documents')).documents, before);
      });
    }

    it('a file above the size limit', async () => {
      const file = '# Long\n\n'.padEnd(bytesMax + 1, 'word ');
      assertRefused(await world.ada.upload({ name: 'long.md' }, file), 400, /larger than 195\.3 kB/);
      assertDone(await world.ada.upload({ name: 'long.md' }, file.slice(0, bytesMax)), 201);
    });

    it('a file without a name, an empty account, and a body that is not a file', async () => {
      for (const query of ['', '?name=', '?name=a.md&accountId=', '?name=a.md&name=b.md']) {
        assertRefused(await world.ada.call('POST', `/documents${query}`, { file: Buffer.from('text') }), 400);
      }
      const headers = { 'content-type': 'text/markdown' };
      const answer = await world.ada.call('POST', '/documents?name=a.md', {
        file: Buffer.from('# A'),
        headers,
      });
      assertRefused(answer, 400, /octet-stream/);
    });

    it('a removal without ids, and of more than 100 documents', async () => {
      for (const ids of [[], Array.from({ length: 101 }, (_, at) => `doc_${at}`)])
        assertRefused(await world.ada.post('/documents/remove', { ids }), 400);
    });
  });

  describe('shows', () => {
    it('the headings of a document, its passages page by page, and where a reply cites it', async () => {
      const sections = Array.from(
        { length: 250 },
        (_, at) => `## Part ${at}\n\nPart ${at} of the long manual\nis about   topic ${at}.\n`,
      );
      const { id, passages } = await add('manual.md', `# Manual\n\n${sections.join('\n')}`);
      assert.equal(passages, 250, 'more than one read of the store');
      const open = async (query = '') => assertDone(await world.ben.get(`/documents/${id}${query}`));
      const { headings, citedPosition, ...document } = await open();
      assert.deepEqual(document, { ...(await listed(id)), url: null });
      assert.equal(citedPosition, null);
      assert.equal(headings.length, 250);
      assert.deepEqual(headings[249], { heading: 'Part 249', position: 249 });
      const cited = async (texts: Record<string, string>) =>
        (await open(`?${new URLSearchParams(texts)}`)).citedPosition;
      assert.equal(await cited({ cited: 'Part 212 of the long manual is about topic 212.' }), 212);
      assert.equal(await cited({ cited: 'Other words.', snippet: 'is about topic 7. … And more' }), 7);
      assert.equal(await cited({ cited: 'Other words.', snippet: '…' }), null);
      const page = async (query: string) =>
        assertDone(await world.ben.get(`/documents/${id}/passages${query}`)).passages;
      assert.deepEqual(await page('?skip=248&limit=100'), [
        { heading: 'Part 248', text: 'Part 248 of the long manual is about topic 248.' },
        { heading: 'Part 249', text: 'Part 249 of the long manual is about topic 249.' },
      ]);
      assert.deepEqual(await page('?skip=250&limit=100'), []);
      for (const query of ['', '?skip=-1&limit=1', '?skip=0&limit=101', '?skip=0&limit=0']) {
        assertRefused(await world.ben.get(`/documents/${id}/passages${query}`), 400);
      }
      assertRefused(await world.ben.get(`/documents/${id}?cited=${'x'.repeat(1001)}`), 400);
    });
  });

  describe('protects', () => {
    it('documents from being read by other organizations, and after their removal', async () => {
      const { id } = await add('secret.md', '# Secret\n\nThis is secret.\n');
      const { ada, eve, acme } = world;
      for (const path of [`/documents/${id}`, `/documents/${id}/passages?skip=0&limit=10`]) {
        assertDone(await ada.get(path));
        assertRefused(await eve.get(path), 404);
        assertRefused(await eve.intrude(acme, 'GET', path), 404);
      }
      await remove(id);
      assertRefused(await ada.get(`/documents/${id}`), 404);
      assertRefused(await ada.get(`/documents/${id}/passages?skip=0&limit=10`), 404);
    });

    it('documents from changes by members and by other organizations', async () => {
      const { id } = await add('ours.md', '# Ours\n\nThis is ours.\n');
      const { ben, eve, acme } = world;
      assertRefused(await ben.upload({ name: 'theirs.md' }, '# Theirs'), 403);
      assertRefused(await ben.post('/documents/remove', { ids: [id] }), 403);
      assert.deepEqual(assertDone(await eve.post('/documents/remove', { ids: [id] })), {
        handled: 1,
        removed: 0,
      });
      assert.ok(await listed(id));
      assertRefused(await eve.intrude(acme, 'POST', '/documents/remove', { body: { ids: [id] } }), 404);
      assertRefused(await eve.intrude(acme, 'GET', '/documents'), 404);
      assertRefused(
        await eve.intrude(acme, 'POST', '/documents?name=a.md', { file: Buffer.from('# A') }),
        404,
      );
      assert.deepEqual(assertDone(await eve.get('/documents')).documents, []);
      assert.ok(await listed(id));
    });
  });
});
