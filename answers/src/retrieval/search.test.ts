import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLibrary, type LibraryFixture } from '../../testing/library-fixture.ts';
import type { PassageStore } from '../port/documents.ts';
import { searchPassages } from './search.ts';

const documents = [
  {
    title: 'Refund policy',
    passages: [
      { heading: 'Shop', text: 'Unused goods are refunded within 30 days of purchase.' },
      { heading: 'Digital goods', text: 'Downloads cannot be sent back once they were opened.' },
    ],
  },
  {
    title: 'Annual leave: Portugal',
    passages: [{ heading: 'Entitlement', text: 'Employees have 25 days of paid leave in a year.' }],
  },
  {
    title: 'Annual leave: Netherlands',
    passages: [{ heading: 'Entitlement', text: 'Employees have 27 days of paid leave in a year.' }],
  },
  { title: 'Office', passages: ['The office opens at 8:00. Bicycles stand in the yard behind the house.'] },
  { title: 'Old copy', passages: ['The office opens at 8:00. Bicycles stand in the yard behind the house!'] },
  { title: 'Contract', passages: ['The discount is 40 per cent.'], accountId: 'acme' },
];

describe('a search', () => {
  let fixture: LibraryFixture;
  before(async () => {
    fixture = createLibrary(documents);
  });

  async function titlesFor(question: string, accountId: string | null = null): Promise<string[]> {
    const { passages } = await fixture.library.search(fixture.organizationId, accountId, question, 5);
    return passages.map(({ title, heading }) => (heading === '' ? title : `${title} › ${heading}`));
  }

  it('ranks the passage about the subject of the question first', async () => {
    assert.equal((await titlesFor('When are goods refunded?'))[0], 'Refund policy › Shop');
  });

  it('finds a passage by its heading and by the title of its document', async () => {
    assert.equal((await titlesFor('refunds for digital goods'))[0], 'Refund policy › Digital goods');
    assert.equal(
      (await titlesFor('How many days of leave in Portugal?'))[0],
      'Annual leave: Portugal › Entitlement',
    );
  });

  it('finds synonyms', async () => {
    assert.equal((await titlesFor('When do I get my money back?'))[0], 'Refund policy › Shop');
    assert.equal((await titlesFor('vacation of Dutch staff'))[0], 'Annual leave: Netherlands › Entitlement');
  });

  it('finds words that are misspelled by one letter', async () => {
    assert.equal((await titlesFor('Where do bicicles stand?'))[0], 'Office');
  });

  it('looks for the spellings of an unknown word with few queries', async () => {
    let queries = 0;
    const counted: PassageStore = {
      ...fixture.store,
      findPassages(organizationId, accountId, terms, limit) {
        queries += terms.length;
        return fixture.store.findPassages(organizationId, accountId, terms, limit);
      },
    };
    await searchPassages(counted, fixture.organizationId, null, 'quantum', 5);
    assert.ok(queries > 1 && queries < 10, `${queries} queries`);
  });

  it('finds synonyms of a word that is misspelled by one letter', async () => {
    assert.equal(
      (await titlesFor('How long is a vaction of Dutch staff?'))[0],
      'Annual leave: Netherlands › Entitlement',
    );
    assert.match((await titlesFor('vaction'))[0]!, /^Annual leave/);
  });

  it('shows equal passages once, and passages with different figures separately', async () => {
    const titles = await titlesFor('When does the office open, and where are bicycles?');
    assert.equal(titles[0], 'Office');
    assert.ok(!titles.includes('Old copy'));
    const leave = await titlesFor('annual leave entitlement');
    assert.equal(leave.filter((title) => title.startsWith('Annual leave')).length, 2);
  });

  it("draws on an account's documents for that account only", async () => {
    assert.deepEqual(await titlesFor('What is the discount?'), []);
    assert.deepEqual(await titlesFor('What is the discount?', 'other'), []);
    assert.deepEqual(await titlesFor('What is the discount?', 'acme'), ['Contract']);
  });

  it('reports how many passages were searched, even if none is found', async () => {
    const { library, organizationId } = fixture;
    const nothing = await library.search(organizationId, null, 'quantum', 5);
    assert.deepEqual([nothing.searched, nothing.passages.length], [6, 0]);
    assert.equal((await library.search(organizationId, null, '?', 5)).searched, 6);
    assert.equal((await library.search(organizationId, 'acme', 'quantum', 5)).searched, 7);
  });

  it('returns no more passages than the limit', async () => {
    const { passages } = await fixture.library.search(fixture.organizationId, null, 'leave days', 1);
    assert.equal(passages.length, 1);
  });

  it('accepts any text as a question', async () => {
    for (const text of [
      '',
      '   ',
      '" OR 1=1 --',
      'a'.repeat(100_000),
      'how '.repeat(25_000),
      '東京'.repeat(9_000),
      '\ud800',
    ]) {
      const { searched } = await fixture.library.search(fixture.organizationId, null, text, 5);
      assert.equal(searched, 6);
    }
  });
});

describe('a search among many passages', () => {
  it('finds the one that contains all words, even if thousands contain each of them', async () => {
    const noise = Array.from({ length: 3_000 }, (_, at) =>
      at % 2 === 0 ? `Invoice number ${at} was paid.` : `Supplier number ${at} was greeted.`,
    );
    const passages = [
      ...noise.slice(0, 2_400),
      'The invoice of a supplier is checked twice.',
      ...noise.slice(2_400),
    ];
    const fixture = createLibrary([{ title: 'Ledger', passages }]);
    try {
      const found = await fixture.library.search(
        fixture.organizationId,
        null,
        'Who checks a supplier invoice?',
        3,
      );
      assert.equal(found.passages[0]?.text, 'The invoice of a supplier is checked twice.');
    } finally {
    }
  });
});
