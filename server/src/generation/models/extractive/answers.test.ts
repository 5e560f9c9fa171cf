import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openSqliteStore } from '../../../storage/sqlite/open.ts';
import { corroborated } from '../../corroboration/corroborated.ts';
import { type LibraryFixture, openLibrary } from '../../retrieval/library-fixture.ts';
import { extractiveModel } from '../extractive.ts';

const documents = [
  {
    title: 'Returns',
    passages: [
      {
        heading: 'Wound yarn, books and needles',
        text: 'Wound yarn cannot be returned, because nobody buys it. Needles and hooks can be returned within 30 days in their packet. Books can be returned within 14 days if they look new.',
      },
      'The shop is fair. Unused yarn can be returned for a full refund within 30 days of purchase. The 30 days begin with the delivery.',
      {
        heading: 'Workshops and gift cards',
        text: 'A workshop place is refunded in full when it is cancelled in time. A later cancellation is not refunded, but the place can be given to a friend. Gift cards are not refunded in cash.',
      },
      {
        heading: 'Money',
        text: 'A purchase that was paid with a gift card is refunded to the same gift card.',
      },
    ],
  },
  {
    title: 'Yarn care',
    passages: [
      'Wool should be washed by hand in cool water. Most garments of wool need washing only a few times a season.',
      {
        heading: 'Moths',
        text: 'Clean wool is safe from moths for longer, so wash garments before storing them.',
      },
      {
        heading: 'Hand washing, step by step',
        text: '- Fill a basin.\n- Lay the garment in the water.\n- Let the garment soak.',
      },
    ],
  },
  {
    title: 'Hours',
    passages: [
      'The shop is open from Tuesday to Saturday and closed on Sunday and Monday. The shop stands at 14 Weir Lane.',
      {
        heading: 'Opening hours',
        text: '- Tuesday to Friday: 10:00 to 18:00\n- Saturday: 9:30 to 16:00\n- Sunday and Monday: closed',
      },
      {
        heading: 'Holidays',
        text: 'The shop is closed for the first weeks of August, when the team is at the Harrow fair.',
      },
    ],
  },
  {
    title: 'Put-ups',
    passages: [
      'Winding one hank takes about 6 minutes. A wound hank is a joy.',
      'A hank is a large open loop of yarn. A cake is a flat cylinder. Yarn is sold in hanks.',
    ],
  },
  {
    title: 'Shipping',
    passages: [
      'The shop ships to 34 countries. Orders placed from Tuesday to Friday leave on the same day.',
      { heading: 'Times', text: 'Shipping takes 4 to 7 business days in every country of Europe.' },
    ],
  },
  { title: 'Leave: Portugal', passages: ['All employees in Portugal have 25 days of annual leave.'] },
];

describe('an answer', () => {
  let fixture: LibraryFixture;
  before(async () => {
    fixture = await openLibrary(openSqliteStore, documents);
  });
  after(() => fixture.close());

  async function ask(...prompts: string[]) {
    const { library, organizationId } = fixture;
    const conversation = prompts.map((content) => ({ role: 'user', content }) as const);
    const signal = AbortSignal.timeout(60_000);
    const request = { organizationId, accountId: null, conversation, attempt: 1, signal };
    const reply = { text: '', steps: [] as string[], sources: [] as string[] };
    for await (const event of corroborated(extractiveModel(library)).reply(request)) {
      if (event.type === 'text') reply.text += event.text;
      if (event.type === 'revision') reply.text = event.text;
      if (event.type === 'step') reply.steps.push(event.description);
      if (event.type === 'sources') reply.sources = event.sources.map(({ title }) => title);
    }
    return reply;
  }

  const hank = 'A hank is a large open loop of yarn [1].';
  const ships = 'The shop ships to 34 countries [1].';

  it('leads with the sentence about what was asked, wherever it stands', async () => {
    const { text } = await ask('How long do I have to return yarn?');
    assert.equal(text, 'Unused yarn can be returned for a full refund within 30 days of purchase [1].');
  });

  it('leads with what was asked for, not with something else about the same', async () => {
    assert.match((await ask('How long does shipping take?')).text, /^Shipping takes 4 to 7 business days/);
    assert.match((await ask('Where is the shop?')).text, /^The shop stands at 14 Weir Lane/);
  });

  it('leaves out sentences that only share a word with the question', async () => {
    assert.equal((await ask('How do I wash wool?')).text, 'Wool should be washed by hand in cool water [1].');
    assert.equal(
      (await ask('refund gift card')).text,
      'Gift cards are not refunded in cash [1].\n\nA purchase that was paid with a gift card is refunded to the same gift card [1].',
    );
  });

  it('says nothing twice', async () => {
    const { text } = await ask('Are you open on Sunday?');
    assert.equal(text, 'The shop is open from Tuesday to Saturday and closed on Sunday and Monday [1].');
  });

  it('gives a list whole where several of its lines answer', async () => {
    const { text } = await ask('What are your opening hours?');
    assert.equal(
      text,
      '- Tuesday to Friday: 10:00 to 18:00 [1]\n- Saturday: 9:30 to 16:00 [1]\n- Sunday and Monday: closed [1]',
    );
  });

  it('says what a thing is that is only named', async () => {
    for (const prompt of ['And a hank?', 'A hank?', 'hank', 'But what is a hank?', 'What about a hank?']) {
      assert.equal((await ask(prompt)).text, hank, prompt);
    }
    assert.equal((await ask('What is a hank?', 'And a cake?')).text, 'A cake is a flat cylinder [1].');
  });

  it('says that a name is not mentioned, and gives the rule that may hold for it', async () => {
    const { text, steps, sources } = await ask('Do you ship to New Zealand?');
    assert.ok(text.startsWith(`The documents do not mention New Zealand. Closest:\n\n${ships}`), text);
    assert.equal(steps.at(-1), 'All 2 statements found in 1 source');
    assert.deepEqual(sources, ['Shipping']);
  });

  it('says so once for all parts of a question', async () => {
    const { text } = await ask('Do you ship to Germany and how long does it take?');
    assert.match(text, /^The documents do not mention Germany\. Closest:\n\nThe shop ships to 34 countries/);
    assert.match(text, /4 to 7 business days/);
    assert.equal(text.split('Germany').length, 2);
  });

  it('answers the part of a question that it can, first', async () => {
    const { text } = await ask('Do you ship to Germany and are you open on Sunday?');
    assert.match(text, /^The shop is open .*\n\nThe documents do not mention Germany\. Closest:\n\nThe shop/);
    const other = await ask('Do you wash garments in Berlin and are you open on Sunday?');
    assert.match(other.text, /^The shop is open .*\n\nThe documents do not mention Berlin\.$/);
  });

  it('takes no rule for others to hold for a name that is not mentioned', async () => {
    const { text, sources } = await ask('How many days of annual leave do employees in Japan have?');
    assert.match(text, /^The documents do not answer this\. .*“Leave: Portugal”/);
    assert.deepEqual(sources, []);
  });

  it('names no closest documents where the words are not those of the documents', async () => {
    for (const prompt of [
      'Wie lange kann ich Wolle zurückgeben?',
      'Quelle est la politique de remboursement ?',
      'asdf qwer zxcv',
      'What is the wind speed limit for cranes on a building site?',
    ]) {
      assert.equal((await ask(prompt)).text, 'The documents do not answer this.', prompt);
    }
  });
});
