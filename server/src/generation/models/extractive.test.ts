import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import type { DraftEvent, Turn } from '../model.ts';
import { type LibraryFixture, openLibrary } from '../retrieval/library-fixture.ts';
import { extractiveModel } from './extractive.ts';

const documents = [
  {
    title: 'Refund policy',
    passages: [
      {
        heading: 'Time',
        text: 'Unused goods are refunded within 30 days of purchase. Sale items are refunded within 14 days.',
      },
      {
        heading: 'Digital goods',
        text: 'Patterns are sent by e-mail. They are refunded only when the file was never opened.',
      },
      {
        heading: 'How to ask for a refund',
        text: 'Follow these steps:\n\n- Open the order page.\n- Choose “Return”.\n- Print the label.',
      },
    ],
  },
  {
    title: 'Opening hours',
    passages: [{ heading: 'Shop', text: 'The shop opens at 9:30. The café in the shop opens at noon.' }],
  },
  {
    title: 'Yarn',
    passages: [
      'Every skein of ours is a skein to love, and a pull skein is a skein for a quick start.',
      'Yarn is sold by weight. A skein is a length of yarn. A ball is wound.',
    ],
  },
  { title: 'People', passages: ['Odile Farrant teaches the workshops. The long table seats 12 guests.'] },
];

describe('the extractive model', () => {
  let fixture: LibraryFixture;
  before(async () => {
    fixture = await openLibrary(openSqliteStore, documents);
  });
  after(() => fixture.close());

  async function draft(conversation: readonly Turn[], signal = AbortSignal.timeout(60_000)) {
    const { library, organizationId } = fixture;
    const events: DraftEvent[] = [];
    const request = { organizationId, accountId: null, conversation, attempt: 1, signal };
    for await (const event of extractiveModel(library).draft(request)) events.push(event);
    return {
      events,
      text: events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join(''),
      steps: events.flatMap((event) => (event.type === 'step' ? [event.description] : [])),
      passages: events.flatMap((event) => (event.type === 'passages' ? event.passages : [])),
    };
  }

  const ask = (...prompts: string[]) => draft(prompts.map((content) => ({ role: 'user', content })));

  it('answers with the sentence that answers, and cites its passage', async () => {
    const { text, passages } = await ask('How long do I have to get unused goods refunded?');
    assert.match(text, /^Unused goods are refunded within 30 days of purchase \[1\]\./);
    assert.equal(passages[0]?.title, 'Refund policy');
  });

  it('tells in steps what it does', async () => {
    const { steps } = await ask('When does the shop open?');
    assert.deepEqual(steps.slice(0, 2), ['Searching 7 passages', 'Reading Opening hours']);
    assert.equal(steps.at(-1), 'Choosing the sentences that answer');
  });

  it('tells the passages before the text that cites them, each mark being one of them', async () => {
    const { events, text, passages } = await ask('Who teaches the workshops, and when does the shop open?');
    const types = events.map(({ type }) => type);
    assert.ok(types.indexOf('passages') < types.indexOf('text'));
    const marks = [...text.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number));
    assert.ok(marks.length > 0);
    for (const mark of marks) assert.ok(mark >= 1 && mark <= passages.length);
  });

  it('answers every part of a question', async () => {
    const { text } = await ask('Who teaches the workshops, and when does the shop open?');
    assert.match(text, /Odile Farrant/);
    assert.match(text, /9:30/);
  });

  it('says first what a thing is, where that is asked', async () => {
    const { text } = await ask('What is a skein?');
    assert.match(text, /^A skein is a length of yarn \[1\]\./);
  });

  it('says of each of two things what it is, where their difference is asked', async () => {
    const { text } = await ask('What is the difference between a skein and a ball?');
    assert.match(text, /A skein is a length of yarn .*A ball is wound/s);
  });

  it('gives the sentence before with one that leans on it', async () => {
    const { text } = await ask('Are digital goods refunded when the file was opened?');
    assert.match(text, /Patterns are sent by e-mail \[1\]\. They are refunded only/);
  });

  it('gives a list whole where steps are asked for', async () => {
    const { text } = await ask('How do I ask for a refund?');
    assert.match(
      text,
      /^Follow these steps:\n\n- Open the order page \[1\]\.\n- Choose “Return” \[1\]\.\n- Print the label \[1\]\./,
    );
  });

  it('understands a short question from the one before', async () => {
    const { text } = await ask('How long do I have for a refund of unused goods?', 'And for sale items?');
    assert.match(text, /Sale items are refunded within 14 days/);
  });

  it('says plainly that the documents do not answer, without citing anything', async () => {
    for (const question of [
      'What is the capital of Australia?',
      'How many moons has Jupiter?',
      'xyzzy',
      '',
    ]) {
      const { text, passages } = await ask(question);
      assert.match(text, /^The documents do not answer this\./, question);
      assert.deepEqual(passages, []);
      assert.doesNotMatch(text, /\[\d/);
    }
  });

  it('says where documents come from where there are none', async () => {
    const empty = await openLibrary(openSqliteStore, []);
    const [full] = [fixture];
    try {
      fixture = empty;
      assert.match((await ask('When does the shop open?')).text, /no documents .*`skein doc add`/);
    } finally {
      fixture = full;
      await empty.close();
    }
  });

  it('answers a greeting without searching', async () => {
    const { events, text } = await ask('Hello!');
    assert.deepEqual(
      events.map(({ type }) => type),
      ['text'],
    );
    assert.match(text, /^Hello!/);
  });

  it('answers the same question in the same way', async () => {
    const question = 'How long do I have to get unused goods refunded?';
    assert.deepEqual(await ask(question), await ask(question));
  });

  it('finds the question at the end of a long prompt', async () => {
    const { text } = await ask(`${'Lorem ipsum dolor sit amet. '.repeat(3_500)}\nWhen does the shop open?`);
    assert.match(text, /9:30/);
  });

  it('takes any prompt', async () => {
    const prompts = [
      'how '.repeat(25_000),
      '?'.repeat(100_000),
      '[1] '.repeat(25_000),
      'a'.repeat(100_000),
      ' \n'.repeat(50_000),
    ];
    for (const prompt of [...prompts, '\ud800', '-'.repeat(100_000), 'and what '.repeat(11_000)]) {
      assert.match((await ask(prompt)).text, /./);
    }
  });

  it('stops when it is aborted', async () => {
    const prompt = { role: 'user', content: 'When does the shop open?' } as const;
    await assert.rejects(draft([prompt], AbortSignal.abort(new Error('stopped'))), /stopped/);
  });
});
