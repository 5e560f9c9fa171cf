import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { corroborate, refunds, reply } from '../../testing/corroboration-fixture.ts';
import { ModelError } from '../port/model.ts';

describe('a corroborated reply', () => {
  it('passes on the events of the drafter in order, and then corroborates', async () => {
    const events = await reply('Unused goods are refunded within 30 days [1].', [refunds]);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['step', 'text', 'text', 'corroborating', 'step', 'revision', 'sources', 'verdict'],
    );
  });

  it('is unanswered if it says only that the documents do not contain the answer', async () => {
    const types = async (draft: string) => (await reply(draft, [refunds])).map(({ type }) => type);
    assert.ok((await types('The documents do not say.')).includes('unanswered'));
    assert.ok(!(await types('Unused goods are refunded within 30 days [1].')).includes('unanswered'));
  });

  it('is not unanswered if the prompt has no topic', async () => {
    for (const prompt of ['Tell me more', ' ', 'Thanks!']) {
      const events = await reply('The documents do not say.', [refunds], prompt);
      assert.ok(!events.some(({ type }) => type === 'unanswered'), prompt);
    }
  });

  it('passes on a draft without passages unchecked and marks it as unanswered', async () => {
    const events = await reply('Hello there, nothing to cite.', []);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['step', 'text', 'text', 'unanswered'],
    );
  });

  it('says how many statements were found in how many sources', async () => {
    const found = 'Unused goods are refunded within 30 days.';
    const alsoFound = 'Parcels leave the house on Tuesday.';
    const invented = 'The director plays the trombone.';
    const steps = async (...statements: string[]) => (await corroborate(statements.join(' '))).steps;
    assert.deepEqual(await steps(found), ['The statement was found in 1 source']);
    assert.deepEqual(await steps(found, alsoFound), ['All 2 statements found in 2 sources']);
    assert.deepEqual(await steps(found, alsoFound, invented), [
      '2 of 3 statements found in 2 sources',
      'Not found in the documents: “The director plays the trombone.”',
    ]);
    assert.equal((await steps(invented))[0], 'The statement was not found in the documents');
    assert.equal((await steps(invented, invented))[0], 'None of 2 statements found in the documents');
  });

  it('names three statements that were not found, shortened, and counts the others', async () => {
    const long = `The director plays ${'very '.repeat(60)}loud trombone music.`;
    const { steps } = await corroborate(
      `${long} Cats sleep late. Dogs bark loudly. Birds sing early. Fish swim deep.`,
    );
    assert.match(
      steps[1]!,
      /^Not found in the documents: “The director [^”]+…”, “Cats sleep late\.”, “[^”]+” and 2 more$/,
    );
    assert.ok(steps[1]!.length < 250);
  });

  it('reports the position of each statement and the sources that support it', async () => {
    const { text, sources, verdict } = await corroborate(
      '# Costs\n\n- Parcels to Norway cost €12 [2]\n- The director plays the **trombone**\n\n| Goods | Rule |\n|---|---|\n| Gift cards | cannot be refunded |\n\nWhich do you mean?',
    );
    assert.deepEqual(
      verdict?.checked.map(({ start, end, sources }) => [text.slice(start, end), sources]),
      [
        ['Parcels to Norway cost €12 [1]', [1]],
        ['The director plays the **trombone**', []],
        ['| Gift cards | cannot be refunded [2] |', [2]],
      ],
    );
    assert.deepEqual([verdict?.statements, verdict?.found, sources.length], [3, 2, 2]);
  });

  it('reports positions in UTF-16 code units', async () => {
    const { text, verdict } = await corroborate('🧶🧶 Yarn glows green. 🧶 Gift cards cannot be refunded.');
    const [first, second] = verdict!.checked.map(({ start, end }) => text.slice(start, end));
    assert.equal(first, '🧶🧶 Yarn glows green.');
    assert.equal(second, '🧶 Gift cards cannot be refunded [1].');
  });

  it('counts all statements of a long draft and keeps the positions of the first 1,000', async () => {
    const { verdict } = await corroborate('Cats sleep late.\n'.repeat(1_200));
    assert.deepEqual([verdict?.statements, verdict?.found, verdict?.checked.length], [1_200, 0, 1_000]);
  });

  it('quotes the revised wording of a statement that was not found', async () => {
    const { steps } = await corroborate('As [2] says, the director plays the trombone [1].');
    assert.equal(
      steps[1],
      'Not found in the documents: “As “Shipping” says, the director plays the trombone.”',
    );
  });

  it('rejects a draft without words as a transient failure', async () => {
    for (const draft of ['[1]', ' [1][2]. ', '**']) {
      await assert.rejects(
        corroborate(draft),
        (error) => error instanceof ModelError && error.transient && /no text/.test(error.message),
      );
    }
  });

  it('counts no questions, greetings, headings or words about the documents as statements', async () => {
    const { steps, sources, text } = await corroborate(
      '# Green goats\n\nHello! Which green goats do you mean? The documents do not mention green goats. Here is what I found:',
    );
    assert.deepEqual([steps, sources], [[], []]);
    assert.match(text, /^# Green goats\n\nHello!/);
  });
});
