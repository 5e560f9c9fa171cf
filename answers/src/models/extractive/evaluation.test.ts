import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { createLibrary, type LibraryFixture } from '../../../testing/library-fixture.ts';
import { readingLimits } from '../../../testing/reading-limits.ts';
import { parseDocument } from '../../reading/parse-document.ts';
import { extractiveModel } from '../extractive.ts';

const root = join(import.meta.dirname, '../../../..');
const evaluation = join(root, 'bench/evaluation');
const folders = { demo: join(root, 'server/demo'), library: join(evaluation, 'library') };
type SetName = keyof typeof folders;

interface AskedQuestion {
  readonly set: SetName;
  readonly question: string;
  readonly document: string | null;
  readonly answer: string | null;
  readonly split: 'tune' | 'held-out';
}

/** The words of a text in lower case, without layout and citations. */
function plain(text: string): string {
  return text
    .replace(/ ?\[\d+\]/g, '')
    .replace(/[*|]/g, '')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}

const questions: AskedQuestion[] = JSON.parse(readFileSync(join(evaluation, 'questions.json'), 'utf8'));

/** Every change must reach these figures. `npm run bench -- --only answers` measures more, on documents by others. */
describe('the questions of bench/evaluation', () => {
  const fixtures = new Map<SetName, LibraryFixture>();
  before(async () => {
    for (const [set, folder] of Object.entries(folders) as [SetName, string][]) {
      const documents = [];
      for (const name of readdirSync(folder).sort()) {
        documents.push({
          name,
          ...(await parseDocument(name, readFileSync(join(folder, name)), readingLimits)),
        });
      }
      fixtures.set(set, createLibrary(documents));
    }
  });

  async function reply({ set, question }: AskedQuestion): Promise<string> {
    const { store, organizationId } = fixtures.get(set)!;
    const conversation = [{ role: 'user', content: question } as const];
    const signal = AbortSignal.timeout(60_000);
    const request = { organizationId, accountId: null, conversation, attempt: 1, signal };
    let text = '';
    for await (const event of extractiveModel(store).reply(request)) {
      if (event.type === 'text') text += event.text;
    }
    return text;
  }

  async function countOutcomes(split: AskedQuestion['split']) {
    const asked = questions.filter((one) => one.split === split);
    const counts = { right: 0, wrong: 0, declined: 0 };
    for (const one of asked) {
      const text = await reply(one);
      const isSure = !text.startsWith('I did not find');
      if (one.answer === null) counts.declined += isSure ? 0 : 1;
      else if (isSure) counts[plain(text).includes(plain(one.answer)) ? 'right' : 'wrong'] += 1;
    }
    const answerable = asked.filter(({ answer }) => answer !== null).length;
    const unanswerable = asked.length - answerable;
    assert.ok(answerable > 50 && unanswerable > 5, `${asked.length} questions are too few`);
    return {
      right: counts.right / answerable,
      wrong: counts.wrong / answerable,
      declined: counts.declined / unanswerable,
    };
  }

  for (const split of ['tune', 'held-out'] as const) {
    it(`are mostly answered correctly or declined (${split})`, async (test) => {
      const { right, wrong, declined } = await countOutcomes(split);
      test.diagnostic(`${split}: ${JSON.stringify({ right, wrong, declined })}`);
      assert.ok(right >= 0.58 && wrong <= 0.14 && declined >= 0.8);
    });
  }
});
