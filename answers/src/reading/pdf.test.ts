import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { makePdf, type PdfLine, setLines } from '../../testing/pdf-file.ts';
import { readDocument } from '../../testing/read-document.ts';
import { UnreadableDocument } from './unreadable-document.ts';

function refuses(bytes: Uint8Array, message: RegExp): Promise<void> {
  return assert.rejects(readDocument('a.pdf', bytes), (error) => {
    assert.ok(error instanceof UnreadableDocument);
    assert.match(error.message, message);
    return true;
  });
}

const heading = (text: string, y: number, size: number): PdfLine => ({ text, y, size });

describe('reading a PDF', () => {
  it('joins lines into paragraphs, and words hyphenated at a line end', async () => {
    const bytes = makePdf([
      [
        ...setLines(700, ['The well-known rules of hyphen-', 'ation hold, and the well-', 'known ones too.']),
        ...setLines(640, ['A second paragraph', 'goes on.']),
        ...setLines(600, ['\u2022 first thing', 'of a list', '\u2022 second']),
      ],
    ]);
    assert.equal(
      (await readDocument('a.pdf', bytes)).passages[0]?.text,
      'The well-known rules of hyphenation hold, and the well-known ones too.\n\nA second paragraph goes on.\n\n- first thing of a list\n- second',
    );
  });

  it('continues a paragraph on the next page, without running headers and page numbers', async () => {
    const page = (number: number, text: string) => [
      ...setLines(760, ['Manual of 2024']),
      ...setLines(700, [text]),
      ...setLines(30, [`Page ${number}`]),
    ];
    const bytes = makePdf([page(1, 'The text begins'), page(2, 'and goes on'), page(3, 'and ends.')]);
    assert.deepEqual(
      (await readDocument('a.pdf', bytes)).passages.map((passage) => passage.text),
      ['The text begins and goes on and ends.'],
    );
  });

  it('keeps the title above the text if the pages repeat it in smaller letters', async () => {
    const page = (title: PdfLine, text: string) => [title, ...setLines(700, [text, 'And more of it.'])];
    const bytes = makePdf([
      page(heading('Manual', 760, 24), 'The first page.'),
      page(heading('Manual', 760, 8), 'The second page.'),
      page(heading('Manual', 760, 9), 'The last page, slightly larger in the scan.'),
    ]);
    const { title, passages } = await readDocument('a.pdf', bytes);
    assert.equal(title, 'Manual');
    assert.doesNotMatch(passages.map(({ text }) => text).join(' '), /Manual/);
  });

  it('reads the lines of a page from top to bottom, and columns in the order of the file', async () => {
    const heading = { text: 'Returns', y: 760, size: 20 };
    const body = setLines(700, ['Keep the receipt.', 'Unused goods come back within thirty days.']);
    const printed = makePdf([[...body, heading]]);
    assert.equal((await readDocument('a.pdf', printed)).title, 'Returns');
    const column = (x: number, texts: string[]) => setLines(700, texts).map((line) => ({ ...line, x }));
    const columns = makePdf([
      [...column(72, ['The left', 'column ends.']), ...column(320, ['The right', 'one too.'])],
    ]);
    const text = (await readDocument('a.pdf', columns)).passages[0]?.text ?? '';
    assert.equal(text.replace(/\s+/g, ' '), 'The left column ends. The right one too.');
  });

  it('reads lines in larger letters as headings, and the first as the title', async () => {
    const bytes = makePdf(
      [
        [
          heading('Returns', 750, 24),
          ...setLines(700, ['What comes back, and what does not come back.']),
          heading('Digital goods', 650, 16),
          ...setLines(620, ['These cannot be returned at all, ever.']),
        ],
      ],
      { title: 'Microsoft Word - returns.doc' },
    );
    assert.deepEqual(await readDocument('a.pdf', bytes), {
      title: 'Returns',
      url: null,
      passages: [
        { heading: '', text: 'What comes back, and what does not come back.' },
        { heading: 'Digital goods', text: 'These cannot be returned at all, ever.' },
      ],
    });
  });

  it('keeps numbered headings of one size apart, and a heading that ends with a full stop', async () => {
    const body = ['The body is in small letters, and there is more of it than of any other text.'];
    const bytes = makePdf([
      [
        heading('The handbook of Acme Inc.', 750, 24),
        heading('1. Introduction', 710, 16),
        heading('2. Scope of it', 690, 16),
        ...setLines(660, body),
      ],
    ]);
    assert.deepEqual(await readDocument('a.pdf', bytes), {
      title: 'The handbook of Acme Inc.',
      url: null,
      passages: [
        { heading: '', text: '1. Introduction' },
        { heading: '2. Scope of it', text: body[0] },
      ],
    });
  });

  it('does not mistake body text for a manual page, an underlined heading or a list', async () => {
    const lines = ['git-add(1) Git Manual git-add(1)', 'The files are staged by git-add(1)'];
    const more = ['Signature', '______', '--verbose', 'Prints more.', '-5 degrees is the lowest.'];
    const paragraphs = more.flatMap((text, at) => setLines(600 - at * 40, [text]));
    const { passages } = await readDocument('a.pdf', makePdf([[...setLines(700, lines), ...paragraphs]]));
    assert.deepEqual(passages, [{ heading: '', text: [lines.join(' '), ...more].join('\n\n') }]);
  });

  it('uses the title of the metadata unless it is a placeholder', async () => {
    const bytes = makePdf([setLines(700, ['Some text here.'])], { title: 'The Returns Manual' });
    assert.equal((await readDocument('a.pdf', bytes)).title, 'The Returns Manual');
    const untitled = makePdf([setLines(700, ['Some text here.'])], { title: 'Untitled' });
    assert.equal((await readDocument('scan-7.PDF', untitled)).title, 'scan-7');
  });

  it('reads ligatures and other scripts', async () => {
    const bytes = makePdf([setLines(700, ['\ufb01ne o\ufb03ce, Grüße, 世界 Ω.'])]);
    assert.equal((await readDocument('a.pdf', bytes)).passages[0]?.text, 'fine office, Grüße, 世界 Ω.');
  });

  it('says why a file cannot be read', async () => {
    const whole = makePdf([setLines(700, ['Some text here.'])]);
    await refuses(Buffer.from('not a PDF at all'), /^is damaged: \w/);
    await refuses(whole.slice(0, 200), /^is damaged: \w/);
    await refuses(makePdf([[], []], { hasImages: true }), /^contains no text: run text recognition/);
    await refuses(makePdf([setLines(700, ['x'])], { isProtected: true }), /^is protected by a password$/);
  });

  it('reads a file whose table of contents is wrong', async () => {
    const whole = Buffer.from(makePdf([setLines(700, ['Some text here.'])])).toString('latin1');
    const wrong = Buffer.from(whole.replace(/startxref\n\d+/, 'startxref\n7'), 'latin1');
    assert.notEqual(wrong.toString('latin1'), whole);
    assert.equal((await readDocument('a.pdf', wrong)).passages[0]?.text, 'Some text here.');
  });

  it('prints nothing and does not keep the process alive', async () => {
    const program = `
      const { readDocument } = await import(${JSON.stringify(new URL('../../testing/read-document.ts', import.meta.url))});
      const { makePdf, setLines } = await import(${JSON.stringify(new URL('../../testing/pdf-file.ts', import.meta.url))});
      const whole = Buffer.from(makePdf([setLines(700, ['Some text.'])])).toString('latin1');
      const wrong = Buffer.from(whole.replace(/startxref\\n\\d+/, 'startxref\\n7').replace('Helvetica', 'Nonesuch'), 'latin1');
      process.stdout.write((await readDocument('a.pdf', wrong)).passages[0].text);
      await readDocument('a.pdf', wrong.subarray(0, 300)).catch((error) => process.stdout.write(' ' + error.name));
      const doneAt = performance.now();
      process.on('exit', () => process.stdout.write(performance.now() - doneAt < 4000 ? ' Ended' : ' Waited'));`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '-e',
      program,
    ]);
    assert.deepEqual({ stdout, stderr }, { stdout: 'Some text. Error Ended', stderr: '' });
  });
});
