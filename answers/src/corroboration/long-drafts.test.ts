import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FoundPassage } from '../port/documents.ts';
import { ModelError } from '../port/model.ts';
import { corroborate } from './corroborate.ts';

const passages: FoundPassage[] = Array.from({ length: 10 }, (_, at) => ({
  documentId: `doc_${at}`,
  name: `handbook-${at}.md`,
  title: `Handbook ${at}`,
  url: null,
  heading: '',
  text: `Parcels to Norway cost €${at}, and those to Ann in Rome €7. They do not leave on Sunday. `.repeat(8),
}));

const draftLength = 100_000;
/** About 10 times what the slowest draft takes. A draft that took quadratic time would take hundreds of times as long. */
const cpuMsMax = 5_000;

function corroborateText(draft: string): void {
  try {
    const types = [...corroborate(draft, passages)].map(({ type }) => type);
    assert.ok(types.includes('revision'));
  } catch (error) {
    assert.ok(error instanceof ModelError && error.message === 'The model returned no text.', String(error));
  }
}

/** Fails if it takes too much processor time of this thread. Other processes and threads make no difference. */
function assertLinear(drafts: readonly string[]): void {
  const before = process.threadCpuUsage();
  for (const draft of drafts) corroborateText(draft);
  const { user, system } = process.threadCpuUsage(before);
  const cpuMs = (user + system) / 1000;
  assert.ok(cpuMs < cpuMsMax, `took ${cpuMs} ms of processor time`);
}

describe('corroborating a draft of 100,000 characters takes linear time', () => {
  const runs = [
    ...[
      ' ',
      '\t',
      '\u00a0',
      '\u3000',
      '\n',
      '\r',
      '\n ',
      '\n\u3000',
      '\n\u2028',
      '\n\f',
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
  it('of backticks in runs of growing length', () => {
    assertLinear([Array.from({ length: 600 }, (_, place) => '`'.repeat(place + 1)).join(' ')]);
  });
  for (const run of runs) {
    it(`of ${JSON.stringify(run)}`, () => {
      const text = run.repeat(draftLength / run.length);
      assertLinear([text, `Some words here ${text}.`]);
    });
  }
});
