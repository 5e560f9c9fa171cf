import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openSqliteStore } from '../../../storage/sqlite/open.ts';
import { corroborated } from '../../corroboration/corroborated.ts';
import { parseDocument } from '../../reading/parse-document.ts';
import { type LibraryFixture, openLibrary } from '../../retrieval/library-fixture.ts';
import { extractiveModel } from '../extractive.ts';

const folder = join(import.meta.dirname, '../../../../demo');

describe('an answer from the documents of the demo', () => {
  let fixture: LibraryFixture;
  before(async () => {
    const documents = [];
    for (const name of readdirSync(folder).sort()) {
      documents.push(await parseDocument(name, readFileSync(join(folder, name))));
    }
    assert.ok(documents.length > 5);
    fixture = await openLibrary(openSqliteStore, documents);
  });
  after(() => fixture.close());

  async function ask(content: string): Promise<string> {
    const { library, organizationId } = fixture;
    const signal = AbortSignal.timeout(60_000);
    const conversation = [{ role: 'user', content } as const];
    const request = { organizationId, accountId: null, conversation, attempt: 1, signal };
    let text = '';
    for await (const event of corroborated(extractiveModel(library)).reply(request)) {
      if (event.type === 'text') text += event.text;
      if (event.type === 'revision') text = event.text;
    }
    return text;
  }

  it('says what a skein is', async () => {
    assert.equal(await ask('What is a skein?'), 'A skein is a length of yarn wound in a loose coil [1].');
  });

  it('is none about a thing that only its like is said of', async () => {
    for (const question of ['What is the name of the cat?', 'What is the cat’s name?']) {
      assert.match(await ask(question), /^The documents do not answer this\./);
    }
  });

  it('gives no rule for one place to another that is not mentioned, but those for all the others', async () => {
    for (const place of ['USA', 'US', 'U.S.']) {
      const text = await ask(`How much does shipping to the ${place} cost?`);
      assert.match(text, /^The documents do not mention the USA\. Closest:\n\n/);
      assert.match(text, /Rest of the world; .*€18\.00/);
      assert.doesNotMatch(text, /within the country/i);
    }
    assert.match(
      await ask('How long does delivery to the UK take?'),
      /^The documents do not mention the UK\./,
    );
  });

  it('answers both of two questions', async () => {
    const text = await ask('Do you accept returns of wound skeins? How long do refunds take?');
    assert.match(text, /Wound yarn cannot be returned/);
    assert.match(text, /Refunds go back .* within 5 business days/);
  });

  it('answers the one part and says what comes closest to the other', async () => {
    const text = await ask('How much is shipping to Germany and how do I wash wool?');
    assert.match(text, /^Wool should be washed by hand/);
    assert.match(text, /\n\nThe documents do not mention Germany\. Closest:\n\n.*Rest of Europe; .*€9\.00/s);
  });

  it('says of which part the documents say nothing', async () => {
    const text = await ask('How do I wash wool, and what is the melting point of tungsten?');
    assert.match(text, /^Wool should be washed by hand/);
    assert.match(text, /\n\nThe documents do not answer “what is the melting point of tungsten\?”\.$/);
  });
});
