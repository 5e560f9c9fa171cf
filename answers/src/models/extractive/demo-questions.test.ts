import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { createLibrary, type LibraryFixture } from '../../../testing/library-fixture.ts';
import { readingLimits } from '../../../testing/reading-limits.ts';
import { parseDocument } from '../../reading/parse-document.ts';
import { extractiveModel } from '../extractive.ts';

const folder = join(import.meta.dirname, '../../../../server/demo');

describe('an answer from the documents of the demo', () => {
  let fixture: LibraryFixture;
  before(async () => {
    const documents = [];
    for (const name of readdirSync(folder).sort()) {
      documents.push({
        name,
        ...(await parseDocument(name, readFileSync(join(folder, name)), readingLimits)),
      });
    }
    assert.ok(documents.length > 5);
    fixture = createLibrary(documents);
  });

  async function ask(content: string): Promise<string> {
    const { store, organizationId } = fixture;
    const signal = AbortSignal.timeout(60_000);
    const conversation = [{ role: 'user', content } as const];
    const request = { organizationId, accountId: null, conversation, attempt: 1, signal };
    let text = '';
    for await (const event of extractiveModel(store).reply(request)) {
      if (event.type === 'text') text += event.text;
    }
    return text;
  }

  // The questions of the README, the guides, the examples and the command that the console shows with a new key.
  for (const [question, decisive] of [
    ['What is a skein?', /^\*\*A skein is a length of yarn wound in a loose coil\.\*\*/],
    ['And a hank?', /^\*\*A hank is a large open loop of yarn/],
    [
      'How long do I have to return yarn?',
      /^\*\*Unused yarn can be returned .* within 30 days of purchase\.\*\*/,
    ],
    ['How long can I return an order?', /within 30 days of purchase/],
    ['How long do refunds take?', /\*\*Refunds go back .* within 5 business days/],
    ['How many countries do you ship to?', /^\*\*The Loose Coil ships yarn to 34 countries/],
    ['Do you accept returns of wound skeins?', /Wound yarn cannot be returned/],
    ['What are your opening hours?', /Thursday: 10:00 to 20:00/],
    ['How do I wash wool?', /washed/],
    ['How do I properly wash superwash wool in the machine?', /^\*\*Superwash wool/],
    ['how much does express shipping cost', /\| Express \| €9\.90 \|/],
    ['What needle size for bulky yarn?', /\| Bulky \| 110 metres \| 7 millimetres \|/],
    ['how many people per workshop', /at most 8 participants/],
    ['What does 429 mean?', /A request above the quota is answered with status 429\./],
    ['Who founded the shop, and when?', /^\*\*Marit Quayle founded The Loose Coil in 2011/],
  ] as const) {
    it(`to “${question}” is right`, async () => assert.match(await ask(question), decisive));
  }

  it('is not given for a thing or a place that no document mentions', async () => {
    for (const question of [
      'What is the name of the cat?',
      'How much does shipping to the USA cost?',
      'how much is shipping to canada',
      'How long does delivery to the UK take?',
      'Does the shop accept bitcoin?',
      'price of a skein of merino',
      'What is 2+2?',
      'Does a full Coil Card from the Berlin store expire after the latest purchase?',
    ]) {
      assert.match(await ask(question), /^I did not find a/, question);
    }
  });

  it('is first among the closest passages if every passage has the only word of the question', async () => {
    assert.match(await ask('where is the shop'), /passages are:\n\n\*\*The shop stands at 14 Weir Lane/);
  });

  it('is first among the closest passages if it matches only by a synonym and the kind of answer', async () => {
    assert.match(await ask('Who started the shop, and when?'), /passages are:\n\n\*\*Marit Quayle founded/);
  });

  it('covers both of two questions', async () => {
    const text = await ask('Do you accept returns of wound skeins? How long do refunds take?');
    assert.match(text, /Wound yarn cannot be returned/);
    assert.match(text, /Refunds go back .* within 5 business days/);
  });

  it('has at most 120 words if it lists the closest passages to several questions', async () => {
    const text = await ask('Can wound yarn be returned in Brazil? How do I wash zebra wool by hand?');
    assert.match(text, /^I did not find a direct answer\./);
    const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
    assert.ok(words.length <= 120, `${words.length} words`);
  });

  it('names only the part of a question without an answer, and announces no passage that it does not show', async () => {
    const text = await ask('Who founded the shop and is it free?');
    assert.match(
      text,
      /I did not find (?:an answer to “is it free\?”\.$|a direct answer to “is it free\?”\. The closest passage is:\n\n.)/,
    );
  });
});
