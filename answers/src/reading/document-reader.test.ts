import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeUnfoldingPdf } from '../../testing/pdf-file.ts';
import { readDocument, readerWith } from '../../testing/read-document.ts';
import { toProgramUrl } from '../../testing/reading-program.ts';
import type { DocumentText } from '../port/documents.ts';
import { UnreadableDocument } from './unreadable-document.ts';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skein-reader-'));
  folders.push(folder);
  return folder;
}

function writeFile(text: string): string {
  const file = join(temporaryFolder(), 'a.md');
  writeFileSync(file, text);
  return file;
}

const megabyte = 1024 * 1024;

/** Taken before the first file: then, no signals can be sent. */
const signals = `
  import { constants } from 'node:os';
  const { SIGKILL, SIGTRAP } = constants.signals;
  const kill = process._kill;
  function end(signal) {
    kill(process.pid, signal);
    // Another thread may get the signal, and later.
    for (;;);
  }`;

const parsing = 'return parseDocument(name, bytes, limits);';

/** Reads like the real program, but blocks its thread on a file that contains `hang`, without using the processor. */
function hangingProgram(): URL {
  return toProgramUrl(`
    if (text === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    ${parsing}`);
}

function read(name: string, text: string): Promise<DocumentText> {
  return readDocument(name, new TextEncoder().encode(text));
}

function refuses(name: string, bytes: Uint8Array | string, message: string): Promise<void> {
  const file = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  return assert.rejects(readDocument(name, file), new UnreadableDocument(message));
}

describe('reading any file', () => {
  it('understands byte order marks', async () => {
    const text = 'Grüße, 世界.';
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    const big = Buffer.from(little).swap16();
    for (const bytes of [Buffer.from(`\ufeff${text}`), little, big]) {
      assert.equal((await readDocument('a.txt', bytes)).passages[0]?.text, text);
    }
  });

  it('decodes a page in the encoding that it declares', async () => {
    const page = (head: string) => Buffer.from(`${head}<p>Caf\xe9 \x93quoted\x94`, 'latin1');
    for (const head of [
      '<meta charset=iso-8859-1>',
      '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">',
      '<?xml version="1.0" encoding="latin1"?>',
    ])
      assert.equal((await readDocument('a.html', page(head))).passages[0]?.text, 'Café “quoted”');
    await refuses('a.html', page(''), 'is not UTF-8 text');
    for (const text of ['the charset=latin1 trap', 'charset=binary in MySQL']) {
      const described = `<meta name="description" content="${text}"><meta charset="utf-8"><p>Zürich</p>`;
      const { passages } = await readDocument('a.html', Buffer.from(described));
      assert.equal(passages[0]?.text, 'Zürich', text);
    }
    await refuses('a.html', page('<meta charset="utf-8">'), 'is not UTF-8 text');
    await refuses('a.html', page('<meta charset="nonsense">'), 'declares the unknown encoding nonsense');
  });

  it('removes control characters, and replaces ligatures and combining accents', async () => {
    const text = 'a\0b\u0007c\u0085\u200bd \ufb01ne e\u0301\r\n&#xD800;&#0;';
    const { passages } = await read('a.md', text);
    assert.equal(passages[0]?.text, 'abc d fine é \ufffd\ufffd');
    const lone = await readDocument('a.txt', Buffer.from('\ufeffa\ud800b', 'utf16le'));
    assert.equal(lone.passages[0]?.text, 'a\ufffdb');
  });

  it('says why a file cannot be read', async () => {
    const kind = 'has an unsupported file type: use .md, .txt, .html, or .pdf';
    const tooMuch = 'contains more than 5,000,000 characters of text: split it';
    const renamed = 'is a ZIP archive or an Office document: save it as PDF or text';
    const cases: [name: string, file: Uint8Array | string, message: string][] = [
      ['a.docx', 'x', kind],
      ['README', 'x', kind],
      ['ls.1', '.TH LS 1\n.SH NAME\nls', kind],
      ['ls.8', 'LS(8)', kind],
      ['a.txt.gz', 'x', 'is compressed: unpack it first'],
      ['a.constructor', 'x', kind],
      ['a.md', '', 'is empty'],
      ['a.md', ' \n\n', 'contains no text'],
      ['a.html', '<script>x</script>', 'contains no text'],
      ['a.txt', new Uint8Array([0x68, 0xe9, 0x6c]), 'is not UTF-8 text'],
      ['a.md', 'PK\x03\x04 word/document.xml', renamed],
      ['a.pdf', 'PK\x03\x04 word/document.xml', renamed],
      ['a.txt', new Uint8Array(50 * megabyte + 1), 'is larger than 50 MB'],
      ['a.txt', 'word '.repeat(1_000_001), tooMuch],
      ['a.html', `<p>${'word '.repeat(1_000_001)}`, tooMuch],
      ['a.md', `${'> '.repeat(1_000)}x`, 'is nested too deeply to be read'],
      ['a.html', '<div>'.repeat(100_000), 'is nested too deeply to be read'],
    ];
    for (const [name, file, message] of cases) await refuses(name, file, message);
  });

  it('says why a path cannot be read', async () => {
    const folder = temporaryFolder();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const [path, message] of [
      [join(folder, 'nothing.md'), 'file not found'],
      [folder, 'is a folder'],
      [join(folder, 'pipe'), 'is not a file'],
      ['/dev/null', 'is not a file'],
    ] as const) {
      await assert.rejects(readerWith()('org', 'a.md', path), new UnreadableDocument(message));
    }
  });

  it('reads a file that is longer than what it sends at a time', async () => {
    const bytes = randomBytes(3 * megabyte + 1);
    const hashing = toProgramUrl(
      "return { title: createHash('sha256').update(bytes).digest('hex'), url: null, passages: [{ heading: '', text }] };",
      "import { createHash } from 'node:crypto';",
    );
    const { title } = await readDocument('a.md', bytes, readerWith({}, hashing));
    assert.equal(title, createHash('sha256').update(bytes).digest('hex'));
  });

  it('reads several files at once', async () => {
    const documents = await Promise.all(['One.', 'Two.', 'Three.'].map((text) => read('a.txt', text)));
    assert.deepEqual(
      documents.map((document) => document.passages[0]?.text),
      ['One.', 'Two.', 'Three.'],
    );
  });

  it('gives up at the deadline, and reads the next file', async () => {
    const reader = readerWith({ documentReadMs: 10_000, documentReaders: 1 }, hangingProgram());
    const hanging = readDocument('a.md', Buffer.from('hang'), reader);
    const next = readDocument('b.md', Buffer.from('Next.'), reader);
    await assert.rejects(hanging, new UnreadableDocument('takes longer than 10 s to read'));
    assert.equal((await next).passages[0]?.text, 'Next.');
  });

  it('gives up at the deadline if its process does not take the file', async () => {
    const blocked = toProgramUrl('', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
    const file = Buffer.alloc(2 * megabyte, 'Text. ');
    await assert.rejects(
      readDocument('a.md', file, readerWith({ documentReadMs: 2_000 }, blocked)),
      new UnreadableDocument('takes longer than 2 s to read'),
    );
  });

  it('rejects a PDF that decompresses to more than the memory limit, and reads the next file', async () => {
    const bytes = makeUnfoldingPdf(1024);
    assert.ok(bytes.byteLength < 2 * megabyte);
    const reader = readerWith({ documentReadMb: 128 });
    await assert.rejects(readDocument('a.pdf', bytes, reader), {
      message: 'takes more than 128 MB of memory to read',
    });
    assert.equal((await readDocument('a.md', Buffer.from('Next.'), reader)).passages[0]?.text, 'Next.');
  });

  it('rejects a file that fills the heap of its process, and reads the next file', async () => {
    const greedy = 'for (let i = 0, map = new Map(); ; i++) map.set(i, i);';
    const reader = readerWith({ documentReadMb: 64 }, toProgramUrl(greedy));
    await assert.rejects(
      readDocument('a.md', Buffer.from('Text.'), reader),
      new UnreadableDocument('takes more than 64 MB of memory to read'),
    );
    assert.equal((await read('a.md', 'Next.')).passages[0]?.text, 'Next.');
  });

  it('rejects a file whose process gets no more memory from the system', async () => {
    const limited = toProgramUrl('end(SIGTRAP);', signals);
    const reader = readerWith({ documentReadMb: 64 }, limited);
    await assert.rejects(
      readDocument('a.md', Buffer.from('Text.'), reader),
      new UnreadableDocument('takes more than 64 MB of memory to read'),
    );
  });

  it('does not claim that a file needs too much memory if its process is killed, and reads the next file', async () => {
    const program = toProgramUrl(`if (text === 'kill') end(SIGKILL); ${parsing}`, signals);
    const reader = readerWith({}, program);
    const message =
      'could not be read: its process was killed, probably because the machine ran out of memory. Try again';
    await assert.rejects(readDocument('a.md', Buffer.from('kill'), reader), new UnreadableDocument(message));
    assert.equal((await readDocument('b.md', Buffer.from('Next.'), reader)).passages[0]?.text, 'Next.');
  });

  it('reads files in a service whose working folder was removed', async () => {
    const file = writeFile('Text.');
    const reader = readerWith({}, toProgramUrl(parsing, 'process.cwd();'));
    const workingFolder = process.cwd();
    const removed = temporaryFolder();
    process.chdir(removed);
    rmSync(removed, { recursive: true });
    try {
      const { passages } = await reader('org', 'a.md', file);
      assert.equal(passages[0]?.text, 'Text.');
    } finally {
      process.chdir(workingFolder);
    }
  });

  it('does not blame the file if its process exits', async () => {
    const reader = readerWith({}, toProgramUrl('process.exit(3);'));
    await assert.rejects(readDocument('a.md', Buffer.from('Text.'), reader), (error: Error) => {
      assert.ok(!(error instanceof UnreadableDocument));
      assert.match(error.message, /the process that reads files ended \(3\)/);
      return true;
    });
  });

  it('reads on when Ctrl-C is pressed in the terminal of the service', { timeout: 30_000 }, async () => {
    // The terminal sends the signal to the whole group of the process that it has started.
    const program = toProgramUrl(parsing, "process.kill(-process.ppid, 'SIGINT');");
    const script = `
      import { readerWith } from ${JSON.stringify(import.meta.resolve('../../testing/read-document.ts'))};
      const interrupted = new Promise((resolve) => process.on('SIGINT', resolve));
      const reader = readerWith({}, new URL(${JSON.stringify(program)}));
      const { passages } = await reader('org', 'a.md', ${JSON.stringify(writeFile('Text.'))});
      console.log(await interrupted, passages[0].text);
      process.exit();`;
    const service = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.equal(await text(service.stdout), 'SIGINT Text.\n');
  });

  it('ends its process if the service is killed while a parser keeps it busy', {
    timeout: 30_000,
  }, async () => {
    const script = `
      import { readerWith } from ${JSON.stringify(import.meta.resolve('../../testing/read-document.ts'))};
      const reader = readerWith({}, new URL(${JSON.stringify(toProgramUrl('for (;;);'))}));
      await reader('org', 'a.md', ${JSON.stringify(writeFile('Text.'))});`;
    const service = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
    const children = `/proc/${service.pid}/task/${service.pid}/children`;
    let [reader = ''] = [] as string[];
    while (reader === '') [reader] = readFileSync(children, 'utf8').split(' ') as [string];
    const line = `/proc/${reader}/cmdline`;
    while (!readFileSync(line, 'utf8').includes('reading-process')) await setImmediate();
    service.kill('SIGKILL');
    while (existsSync(line) && readFileSync(line, 'utf8') !== '') await setImmediate();
  });

  it('ends a process whose service was killed before it started', { timeout: 30_000 }, async () => {
    const program = fileURLToPath(new URL('./reading-process.ts', import.meta.url));
    const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(dead, 'exit');
    const words = [dead.pid, 256, 512, toProgramUrl('').href].map(String);
    const child = spawn(process.execPath, [program, ...words], {
      stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
    });
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
  });

  it('fails one file if no file descriptor is left for it or for its process, and reads the next file', async () => {
    const script = `
      import { closeSync, openSync } from 'node:fs';
      import { readerWith } from ${JSON.stringify(import.meta.resolve('../../testing/read-document.ts'))};
      import { readingFlags } from ${JSON.stringify(import.meta.resolve('./reading-permissions.ts'))};
      // These are worked out once, from files.
      readingFlags();
      const reader = readerWith();
      const read = () => reader('org', 'a.md', ${JSON.stringify(writeFile('Text.'))});
      const opened = [];
      try {
        for (;;) opened.push(openSync('/dev/null'));
      } catch {}
      const failures = [await read().catch(({ code }) => code)];
      // Enough for the file, but not for the process.
      closeSync(opened.pop());
      failures.push(await read().catch(({ message, cause }) => message + ': ' + cause.code));
      for (const descriptor of opened) closeSync(descriptor);
      const { passages } = await read();
      console.log(failures, passages[0].text);`;
    const limited = [
      '-c',
      'ulimit -n 60; exec "$@"',
      'sh',
      process.execPath,
      '--input-type=module',
      '--eval',
    ];
    const { stdout, stderr } = await promisify(execFile)('sh', [...limited, script]);
    const failures = "[ 'EMFILE', 'the process that reads files failed: EMFILE' ]";
    assert.deepEqual([stdout, stderr], [`${failures} Text.\n`, '']);
  });

  it('keeps a process for each organization that reads at the same time', async () => {
    const program = toProgramUrl(
      "return { title: String(process.pid), url: null, passages: [{ heading: '', text }] };",
    );
    const reader = readerWith({ documentReaders: 2 }, program);
    const file = writeFile('Text.');
    const readBoth = async () => {
      const read = await Promise.all(
        ['org_a', 'org_b'].map((organization) => reader(organization, 'a.md', file)),
      );
      return read.map(({ title }) => title).toSorted();
    };
    const first = await readBoth();
    assert.equal(new Set(first).size, 2);
    assert.deepEqual(await readBoth(), first);
  });

  it('reads a file of another organization while one waits for its own', async () => {
    const reader = readerWith({ documentReaders: 2, documentReadMs: 10_000 }, hangingProgram());
    const hostile = writeFile('hang');
    const ended: string[] = [];
    const reads = [
      ...['first', 'second'].map((name) =>
        reader('org_a', `${name}.md`, hostile).catch(() => ended.push(name)),
      ),
      reader('org_b', 'b.md', writeFile('Text.')).then(() => ended.push('other')),
    ];
    await Promise.all(reads);
    assert.deepEqual(ended, ['other', 'first', 'second']);
  });

  it('indexes each passage by the words of its text, its heading, the title and the file name', async () => {
    const text = `---\ntitle: Returns\n---\n${'# Gloves\n\nWool lasts.\n\n# Hats\n\nFelt.\n\n'.repeat(60)}`;
    const { passages, bytes } = await readerWith()('org', 'docs/winter-shop.md', writeFile(text));
    assert.equal(passages.length, 120);
    assert.deepEqual(passages[118]?.terms.toSorted(), ['glove', 'lasts', 'return', 'shop', 'winter', 'wool']);
    assert.equal(bytes, 60 * Buffer.byteLength('GlovesWool lasts.HatsFelt.'));
  });

  it('rejects a document with more passages, or more text with its headings, than the limits', async () => {
    const passages = readDocument(
      'a.md',
      Buffer.from('# a\nb\n'.repeat(11)),
      readerWith({ documentPassagesMax: 10 }),
    );
    await assert.rejects(passages, { message: 'has more than 10 passages: split it' });
    const text = Buffer.from(`# Other\n\n# ${'h'.repeat(100)}\n\n${'## b\n\ntext\n\n'.repeat(10)}`);
    const short = readerWith({ documentLengthMax: 700 });
    assert.ok(text.length < 700);
    await assert.rejects(readDocument('a.md', text, short), {
      message: 'contains more than 700 characters of text: split it',
    });
  });

  it('names the passage limit for a document with hundreds of thousands of sections', async () => {
    const message = 'has more than 5,000 passages: split it';
    await refuses('a.md', '# a\nb\n'.repeat(480_000), message);
    await refuses('a.md', 'a\n=\nb\n\n'.repeat(300_000), message);
    await refuses('a.txt', 'a\n===\nb\n\n'.repeat(300_000), message);
  });

  it('cuts long headings and titles, keeps the full heading once as text, and drops a long URL', async () => {
    const long = 'word '.repeat(2_000).trim();
    const { title, passages } = await read('a.md', `# Other\n\n# ${long}\n\n## Below\n\nText.`);
    assert.equal(title, 'Other');
    const last = passages.at(-1)!;
    assert.equal([...last.heading].length, 200 + ' › Below'.length);
    assert.match(last.heading, /^word word .*… › Below$/);
    assert.ok(passages.filter(({ text }) => text.startsWith('word')).length > 5);
    const titled = await read('a.md', `---\ntitle: Word\n---\n# ${long} end\n\nText.`);
    assert.match(titled.passages.at(-1)!.text, /word end\n\nText\.$/);
    const html = (href: string) =>
      read('a.html', `<title>${long}</title><link rel="canonical" href="${href}"><p>Text.</p>`);
    const base = 'https://example.com/';
    assert.equal((await html(base.padEnd(2_048, 'a'))).url?.length, 2_048);
    const tooLong = await html(base.padEnd(2_049, 'a'));
    assert.equal(tooLong.url, null);
    assert.equal([...tooLong.title].length, 255);
  });
});

describe('reading a hostile file', () => {
  const hostile: Record<string, string> = {
    'quotes in quotes': '> '.repeat(100_000),
    'lists in lists': '- '.repeat(100_000),
    'lists under lists': Array.from({ length: 1_500 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n'),
    'open brackets': '['.repeat(3_000_000),
    'unclosed emphasis': '*a _b '.repeat(100_000),
    'unclosed elements': '<div><table><b><p>'.repeat(20_000),
    'nested elements': '<div>'.repeat(100_000),
    'unclosed comments': '<!--'.repeat(100_000),
    'unclosed tags': '<a '.repeat(100_000),
    'nested tables': '<table><tr><td>'.repeat(30_000),
    'accents in a row': `a${'\u0301\u0316'.repeat(300_000)}`,
    spaces: ' '.repeat(1_000_000),
    options: '-a\n'.repeat(100_000),
    questions: 'Why?\n\n'.repeat(50_000),
    rules: '---\n'.repeat(100_000),
    tabs: '\t'.repeat(300_000),
  };
  for (const [name, text] of Object.entries(hostile)) {
    it(`reads or rejects ${name} without reaching a limit of time or memory`, async () => {
      for (const ending of ['.md', '.html', '.txt']) {
        await readDocument(`a${ending}`, Buffer.from(`${text}end`)).then(
          (document) => assert.ok(document.passages.every((passage) => passage.text.trim() !== '')),
          (error) => {
            assert.ok(error instanceof UnreadableDocument);
            assert.doesNotMatch(error.message, /^takes /);
          },
        );
      }
    });
  }
});
