import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FoundPassage } from '../../domain/document.ts';
import type { DocumentId } from '../../domain/id.ts';
import { type DraftEvent, ModelError } from '../model.ts';
import { corroborated } from './corroborated.ts';

const passages: FoundPassage[] = Array.from({ length: 10 }, (_, at) => ({
  documentId: `doc_${at}` as DocumentId,
  name: `handbook-${at}.md`,
  title: `Handbook ${at}`,
  url: null,
  heading: '',
  text: `Parcels to Norway cost €${at}, and those to Ann in Rome €7. They do not leave on Sunday. `.repeat(8),
}));

const draftLength = 200_000;
/** What somebody else may have to wait: about 15 ms alone; the bound is for a machine that is busy with other tests. */
const stretchMsMax = 250;
/** Another process may have the processor for longer than that; not every time. */
const trialsMax = 4;

/** The longest time in which the event loop could not turn. */
async function longestStretchMs(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let turnedAt = performance.now();
  let isOver = false;
  const turned = () => {
    longest = Math.max(longest, performance.now() - turnedAt);
    turnedAt = performance.now();
    if (!isOver) setImmediate(turned);
  };
  setImmediate(turned);
  await work();
  isOver = true;
  turned();
  return longest;
}

async function corroborate(text: string): Promise<void> {
  async function* draft(): AsyncGenerator<DraftEvent> {
    yield { type: 'passages', passages };
    yield { type: 'text', text };
  }
  const request = { conversation: [], accountId: null, attempt: 1, signal: new AbortController().signal };
  const types: string[] = [];
  try {
    for await (const { type } of corroborated({ name: 'drafter', draft }).reply(request as never)) {
      types.push(type);
    }
    assert.ok(types.includes('revision'));
  } catch (error) {
    assert.ok(error instanceof ModelError && error.message === 'The model gave no text.', String(error));
  }
}

describe('a draft of 200,000 characters does not delay others', () => {
  const runs = [
    ...[
      ' ',
      '\t',
      '\u00a0',
      '\u3000',
      '\n',
      '\r',
      '\n ',
      '[',
      ']',
      '(',
      '[1]',
      '[1] ',
      '[1,',
      'a[1]',
      '|[1]',
    ],
    ...[
      'a ',
      'a\n',
      'Ab ',
      'Ab 1, ',
      '1,',
      '1',
      '. ',
      '.',
      'A. ',
      '`',
      '```',
      '*',
      '_',
      '|',
      '| ',
      '-',
      '- ',
      '> ',
    ],
    ...[
      '"',
      '“',
      "'",
      '…',
      '\u0301',
      '\u0301\u0316',
      'a\u0301',
      '字',
      '\ud83d',
      'not ',
      'and [1] ',
      'Parcels to Norway. ',
      'Yarn glows green; ',
      'Yarn glows green [1], and ',
    ],
  ];
  for (const run of runs) {
    it(`of ${JSON.stringify(run)}`, async () => {
      await corroborate('warm');
      const text = run.repeat(draftLength / run.length);
      for (const draft of [text, `Some words here ${text}.`]) {
        let stretchMs = Number.POSITIVE_INFINITY;
        for (let trial = 0; trial < trialsMax && stretchMs >= stretchMsMax; trial++) {
          stretchMs = await longestStretchMs(() => corroborate(draft));
        }
        assert.ok(stretchMs < stretchMsMax, `${Math.round(stretchMs)} ms`);
      }
    });
  }
});
