import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { makeUnfoldingPdf } from '../../../testing/pdf-file.ts';
import { readDocument, readerWith } from '../../../testing/read-document.ts';
import { type DocumentText, UnreadableDocument } from '../../domain/document.ts';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skein-reader-'));
  folders.push(folder);
  return folder;
}

const megabyte = 1024 * 1024;

function read(name: string, text: string): Promise<DocumentText> {
  return readDocument(name, new TextEncoder().encode(text));
}

function refuses(name: string, bytes: Uint8Array | string, message: string): Promise<void> {
  const file = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  return assert.rejects(readDocument(name, file), (error) => {
    assert.ok(error instanceof UnreadableDocument);
    assert.equal(error.message, message);
    return true;
  });
}

describe('reading Markdown', () => {
  it('reads the title and the address in the front matter', async () => {
    const text =
      '---\ntitle: "Returns: how"\nurl: https://example.com/returns\ntags: [a]\n---\n# Returns\n\nThirty days.\n';
    assert.deepEqual(await read('docs/returns.md', text), {
      title: 'Returns: how',
      url: 'https://example.com/returns',
      passages: [{ heading: '', text: 'Thirty days.' }],
    });
  });

  it('tells a rule from front matter, and ignores addresses that are not HTTP', async () => {
    assert.equal(
      (await read('a.md', '---\n\nSome text.\n\n---\n\nMore.')).passages[0]?.text,
      'Some text.\n\nMore.',
    );
    assert.equal((await read('a.md', '---\nurl: javascript:alert(1)\n---\nText.')).url, null);
  });

  it('removes Markdown syntax', async () => {
    const text =
      '# *The* `title`\n\nA **bold** [link](https://x.y) &amp; `&amp;` ![logo](l.png)\nnext<br>line \\*.\n\n> Quoted.\n';
    const { title, passages } = await read('a.md', text);
    assert.equal(title, 'The title');
    assert.deepEqual(passages, [{ heading: '', text: 'A bold link & &amp; next line *.\n\nQuoted.' }]);
  });

  it('reads lists, tables, code and HTML', async () => {
    const text =
      'Need:\n\n1. a\n   - b\n2. [x] c\n\n   more\n\n| Plan | Price |\n|---|---|\n| Pro | $1 |\n| Free | |\n\n```sh\nrun  --it\n\nnow\n```\n\n<details><summary>Why?</summary>So.</details>\n<!-- hidden -->\n';
    const { passages } = await read('a.md', text);
    assert.deepEqual(passages, [
      {
        heading: '',
        text: 'Need:\n\n1. a\n- b\n2. c more\n\n| Plan | Price |\n| --- | --- |\n| Pro | $1 |\n| Free |  |\n\n```\nrun  --it\n\nnow\n```',
      },
      { heading: 'Why?', text: 'So.' },
    ]);
  });

  it('uses the file name as the title if there is no other', async () => {
    assert.equal((await read('some/folder/price-list.MD', 'Text.')).title, 'price-list');
  });
});

describe('reading plain text', () => {
  it('reads paragraphs, lists and underlined headings', async () => {
    const text =
      'The manual\n\nWrapped\nlines.\n\nSetup\n-----\nYou need:\n- a pen\n  and ink\n* paper\n\n2) last\n';
    assert.deepEqual(await read('m.txt', text), {
      title: 'The manual',
      url: null,
      passages: [
        { heading: '', text: 'Wrapped lines.' },
        { heading: 'Setup', text: 'You need:\n\n- a pen and ink\n- paper\n2. last' },
      ],
    });
  });

  it('does not use a sentence as the title', async () => {
    const { title, passages } = await read('notes.text', 'It began.\n\nIt ended.');
    assert.equal(title, 'notes');
    assert.equal(passages[0]?.text, 'It began.\n\nIt ended.');
  });
});

describe('reading structured text', () => {
  const passagesOf = async (name: string, text: string) =>
    (await read(name, text)).passages.map(({ heading, text }) => `${heading}: ${text}`);

  it('makes a passage of each option of a formatted manual page', async () => {
    const page = `LS(1)\t\t\t User Commands\t\t\t LS(1)

NAME
       ls - list directory contents

DESCRIPTION
       List  information  about  the FILEs.  Sort entries if none  is  speci\u2010
       fied.

       -a, --all
\t      do not ignore entries starting with .

       -c     with -lt: sort by ctime;
\t      otherwise: sort

\t      A second paragraph.

       -h
       --human
              print sizes like 1K

       The SIZE argument is an integer.

   Exit status:
       0      if OK,

ENVIRONMENT
       TZ     The time zone.

       LS_COLORS
              Which colors.

GNU coreutils 9.1		  April 2022				 LS(1)
`;
    const { title } = await read('page.txt', page);
    assert.equal(title, 'ls(1)');
    assert.deepEqual(await passagesOf('page.txt', page), [
      'NAME: ls - list directory contents',
      'DESCRIPTION: List information about the FILEs. Sort entries if none is specified.',
      'DESCRIPTION: -a, --all\ndo not ignore entries starting with .',
      'DESCRIPTION: -c\nwith -lt: sort by ctime; otherwise: sort\n\nA second paragraph.',
      'DESCRIPTION: -h, --human\nprint sizes like 1K',
      'DESCRIPTION: The SIZE argument is an integer.',
      'DESCRIPTION › Exit status:: 0 if OK,',
      'ENVIRONMENT: TZ\nThe time zone.',
      'ENVIRONMENT: LS_COLORS\nWhich colors.',
    ]);
  });

  it('reads the source of a manual page, in man and in mdoc macros', async () => {
    const man = `.\\" A comment
.de XX
skipped
..
.ds L" \\(lq
.TH LS "1" "2024" "GNU"
.SH NAME
ls \\- list \\fIdirectory\\fR contents
.SH "OPTIONS AND MORE"
See
.BR ls (5),
too.
.PP
Second & last.
.TP
\\fB\\-a\\fR, \\fB\\-\\-all\\fR
show all
.IP
and \\*(L"more\\(rq
.ie n .IP "\\-b, <x>" 4
.el .IP "other" 4
be brief
.PP
\\-c
.RS 4
compact
.RE
.PP
After:
.IP \\(bu 2
one
.IP 2. 4
two
.nf
  code  \\e n
.fi
`;
    const { title } = await read('ls.1', man);
    assert.equal(title, 'ls(1)');
    assert.deepEqual(await passagesOf('ls.1', man), [
      'NAME: ls - list directory contents',
      'OPTIONS AND MORE: See ls(5), too.\n\nSecond & last.',
      'OPTIONS AND MORE: -a, --all\nshow all\n\nand “more”',
      'OPTIONS AND MORE: -b, <x>\nbe brief',
      'OPTIONS AND MORE: -c\ncompact',
      'OPTIONS AND MORE: After:\n\n- one\n2. two\n\n```\n  code  \\ n\n```',
    ]);
    const mdoc = `.Dd May 1
.Dt CAT 1
.Os
.Sh NAME
.Nm cat
.Nd print files
.Sh SYNOPSIS
.Nm
.Op Fl bn
.Op Ar file ...
.Sh DESCRIPTION
.Bl -tag -width x
.It Fl b Ns = Ns Ar n , Fl -blank
Number
.Pq see Xr ls 1 ,
.Em not
blank.
.El
.Bl -enum
.It
First.
.It
Second.
.El
`;
    assert.deepEqual(await passagesOf('cat.txt', mdoc), [
      'NAME: cat - print files',
      'SYNOPSIS: cat [-bn] [file ...]',
      'DESCRIPTION: -b=n, --blank\nNumber (see ls(1)), not blank.',
      'DESCRIPTION: 1. First.\n2. Second.',
    ]);
  });

  it('reads an option within running text and a command that ends with ? as text', async () => {
    const text =
      'It saves data, using the\n-o,  --output or -O options.  If\nit gets many.\n\n$ test; echo $?\n\nIt prints 0.';
    assert.deepEqual(await passagesOf('a.txt', text), [
      ': It saves data, using the -o, --output or -O options. If it gets many.\n\n$ test; echo $?\n\nIt prints 0.',
    ]);
  });

  it('repeats an option whose description is longer than a passage', async () => {
    const long = Array.from({ length: 40 }, () => '      One two three four five six seven.').join('\n');
    const passages = await passagesOf('a.txt', `Usage\n\n  -x, --long=ARG\n${long}\n`);
    assert.ok(passages.length > 1);
    assert.ok(passages.every((passage) => passage.startsWith(': -x, --long=ARG\nOne two')));
  });

  it('makes one passage of a question and its answer', async () => {
    assert.deepEqual(
      await passagesOf(
        'faq.txt',
        'Q. Is it free?\n\nQ: Does it cost?\n\nA. Yes, it is.\n\n1.1. Who made it?\nWe did.\n\n- How?\n\nBy hand.',
      ),
      [
        'Is it free? Does it cost?: Yes, it is.',
        '1.1. Who made it?: We did.',
        '1.1. Who made it? › How?: By hand.',
      ],
    );
    assert.deepEqual(await passagesOf('faq.md', '**Why?**\n\nSo.\n\n- Who?\n- What?\n\nEnd?'), [
      'Why?: So.\n\n- Who?\n- What?\n\nEnd?',
    ]);
  });

  it('recognises headings that are underlined, numbered or in capitals', async () => {
    assert.deepEqual(
      await passagesOf(
        'a.txt',
        'Manual\n\nINSTALLING IT\nRun it.\n\n1. Setup\n\nText.\n\n1.2 More of it\n\nOther.\n\n---------\n2. Next\n---------\n\n1. Open it.\n\n2. Close it.\n',
      ),
      [
        'INSTALLING IT: Run it.',
        'INSTALLING IT › 1. Setup: Text.',
        'INSTALLING IT › 1. Setup › 1.2 More of it: Other.',
        '2. Next: 1. Open it.\n2. Close it.',
      ],
    );
  });

  it('joins words hyphenated at a line end, and keeps real hyphens', async () => {
    const text =
      'A config-\nuration of well-\nknown and first-class or first-\nclass parts: UTF-\n8, --no-\nverify, pre-\nand post-steps, host-spe\u2010\ncific.';
    assert.deepEqual(await passagesOf('a.txt', text), [
      ': A configuration of well-known and first-class or first-class parts: UTF-8, --no-verify, pre- and post-steps, host-specific.',
    ]);
  });

  it('reads long runs of letters without a space or a hyphen', async () => {
    for (const letters of ['a'.repeat(500_000), '\u6587'.repeat(260_000)]) {
      const passages = await passagesOf('a.txt', `MANUAL\n\n${letters}\n\nEnd with a-b.`);
      assert.ok(passages.every((passage) => passage.startsWith('MANUAL: ')));
      assert.ok(passages.join('').split(letters[0]!).length > letters.length);
    }
  });

  it('keeps columns, and removes the bold print of terminals', async () => {
    assert.deepEqual(await passagesOf('a.txt', 'T\u0008Two of them.\n\na      b\nc      d'), [
      ': Two of them.\n\n```\na      b\nc      d\n```',
    ]);
  });
});

describe('reading HTML', () => {
  it('leaves out menus, scripts, footers and hidden elements', async () => {
    const text = `<!doctype html><title>Returns – Shop</title><link rel="canonical" href="https://x.y/r">
      <body><nav>Menu</nav><script>bad()</script><style>p{}</style><template>no</template><h1>Returns <a aria-hidden="true">#</a></h1>
      <p>Within <b>thir</b>ty&nbsp;days<br>only.<p hidden>secret</p><ul><li>a<ul><li>b</ul><li><p>c</p><p>d</p></ul>
      <h2>Prices<span><a href="#p">#</a></span></h2><table><caption>All</caption><tr><th>Plan<th>Price<tr><td>Pro<td>1<tr><td colspan=2>Free</table>
      <pre>\n  x\n    y\n</pre><dl><dt>Term<dd><p>Meaning</p></dl><footer>Imprint</footer>`;
    assert.deepEqual(await read('r.htm', text), {
      title: 'Returns – Shop',
      url: 'https://x.y/r',
      passages: [
        { heading: '', text: 'Within thirty days only.\n\n- a\n- b\n- c d' },
        {
          heading: 'Prices',
          text: 'All\n\n| Plan | Price |\n| --- | --- |\n| Pro | 1 |\n| Free |  |\n\n```\n  x\n    y\n```',
        },
        { heading: 'Prices', text: 'Term\nMeaning' },
      ],
    });
  });

  it('reads only the main element if there is one', async () => {
    const { title, passages } = await read(
      'a.html',
      '<div>Banner</div><main><h1>T</h1><p>Text.</main><div>Ads</div>',
    );
    assert.equal(title, 'T');
    assert.deepEqual(passages, [{ heading: '', text: 'Text.' }]);
  });

  it('repeats cells that span rows or columns, and makes a passage of each definition', async () => {
    const { passages } = await read(
      'a.html',
      `<table><tr><th>Plan<th colspan=2>Price<tr><td rowspan=2>Pro<td>1<td>EUR<tr><td>2<td>USD</table>
       <dl><div><dt>One<dd>First.<pre>x</pre></div><dt>Two<dt>Three<dd>Last.<dd>More.</dl><ul>${'<li>i'.repeat(3)}</ul>`,
    );
    assert.deepEqual(passages, [
      {
        heading: '',
        text: '| Plan | Price | Price |\n| --- | --- | --- |\n| Pro | 1 | EUR |\n| Pro | 2 | USD |',
      },
      { heading: '', text: 'One\nFirst.\n\n```\nx\n```' },
      { heading: '', text: 'Two, Three\nLast.\n\nMore.' },
      { heading: '', text: '- i\n- i\n- i' },
    ]);
  });

  it('reads layout tables as ordinary blocks', async () => {
    const { passages } = await read(
      'a.html',
      '<table><tr><td><h2>A</h2><p>One.<td><table><tr><td>K<td>V</table></table>',
    );
    assert.deepEqual(passages, [{ heading: 'A', text: 'One.\n\n|  |  |\n| --- | --- |\n| K | V |' }]);
  });
});

describe('reading any file', () => {
  it('understands byte order marks', async () => {
    const text = 'Grüße, 世界.';
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    const big = Buffer.from(little).swap16();
    for (const bytes of [Buffer.from(`\ufeff${text}`), little, big]) {
      assert.equal((await readDocument('a.txt', bytes)).passages[0]?.text, text);
    }
  });

  it('reads a manual page whose words are names of JavaScript properties', async () => {
    const page =
      '.TH FOO 3\n.SH NAME\nfoo \\- test\n.SH DESCRIPTION\nThe\n.B constructor\nbuilds an object.\n.Nm toString\n';
    const { passages } = await readDocument('foo.3', Buffer.from(page));
    assert.match(passages.map(({ text }) => text).join('\n'), /constructor.*builds an object/s);
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

  it('does not change the bytes it is given', async () => {
    const bytes = Buffer.from('Some text.');
    await readDocument('a.txt', bytes);
    assert.equal(bytes.toString(), 'Some text.');
  });

  it('says why a file cannot be read', async () => {
    const kind = 'is of a kind that cannot be read: use .md, .txt, .html or .pdf';
    await refuses('a.docx', 'x', kind);
    await refuses('README', 'x', kind);
    await refuses('a.constructor', 'x', kind);
    await refuses('a.md', '', 'is empty');
    await refuses('a.md', ' \n\n', 'holds no text');
    await refuses('a.html', '<script>x</script>', 'holds no text');
    await refuses('a.txt', new Uint8Array([0x68, 0xe9, 0x6c]), 'is not UTF-8 text');
    await refuses('a.txt', new Uint8Array(50 * megabyte + 1), 'is larger than 50 MB');
    const tooMuch = 'holds more than 5,000,000 characters of text: split it';
    await refuses('a.txt', 'word '.repeat(1_000_001), tooMuch);
    await refuses('a.html', `<p>${'word '.repeat(1_000_001)}`, tooMuch);
  });

  it('reads several files at once', async () => {
    const documents = await Promise.all(['One.', 'Two.', 'Three.'].map((text) => read('a.txt', text)));
    assert.deepEqual(
      documents.map((document) => document.passages[0]?.text),
      ['One.', 'Two.', 'Three.'],
    );
  });

  it('gives up at the deadline, and reads the next file', async () => {
    const reader = readerWith({ documentReadMs: 5_000, documentReaders: 1 });
    const hostile = readDocument('a.md', Buffer.from('*a_'.repeat(30_000)), reader);
    const next = readDocument('b.md', Buffer.from('Next.'), reader);
    await assert.rejects(hostile, (error) => {
      assert.ok(error instanceof UnreadableDocument);
      assert.equal(error.message, 'takes longer than 5 s to read');
      return true;
    });
    assert.equal((await next).passages[0]?.text, 'Next.');
  });

  it('refuses a PDF that decompresses to more than the memory limit, and reads the next file', async () => {
    const bytes = makeUnfoldingPdf(1024);
    assert.ok(bytes.byteLength < 2 * megabyte);
    const reader = readerWith({ documentReadMb: 128 });
    await assert.rejects(readDocument('a.pdf', bytes, reader), {
      message: 'takes more than 128 MB of memory to read',
    });
    assert.equal((await readDocument('a.md', Buffer.from('Next.'), reader)).passages[0]?.text, 'Next.');
  });

  it('refuses a file that fills the heap of its process, and reads the next file', async () => {
    const program = join(temporaryFolder(), 'greedy.mjs');
    writeFileSync(
      program,
      "process.on('message', () => { const map = new Map(); for (let i = 0; ; i++) map.set(i, i); });",
    );
    const reader = readerWith({ documentReadMb: 64 }, pathToFileURL(program));
    await assert.rejects(readDocument('a.md', Buffer.from('Text.'), reader), (error) => {
      assert.ok(error instanceof UnreadableDocument);
      assert.equal(error.message, 'takes more than 64 MB of memory to read');
      return true;
    });
    assert.equal((await read('a.md', 'Next.')).passages[0]?.text, 'Next.');
  });

  it('does not blame the file if its process exits', async () => {
    const program = join(temporaryFolder(), 'broken.mjs');
    writeFileSync(program, "process.on('message', () => process.exit(3));");
    const reader = readerWith({}, pathToFileURL(program));
    await assert.rejects(readDocument('a.md', Buffer.from('Text.'), reader), (error: Error) => {
      assert.ok(!(error instanceof UnreadableDocument));
      assert.match(error.message, /the process that reads files ended \(3\)/);
      return true;
    });
  });

  it('reads a file of another organization while one waits for its own', async () => {
    const reader = readerWith({ documentReaders: 2, documentReadMs: 5_000 });
    const hostile = { bytes: Buffer.from('*a_'.repeat(30_000)) };
    const ended: string[] = [];
    const reads = [
      ...['first', 'second'].map((name) =>
        reader.read('org_a', `${name}.md`, hostile).catch(() => ended.push(name)),
      ),
      reader.read('org_b', 'b.md', { bytes: Buffer.from('Text.') }).then(() => ended.push('other')),
    ];
    await Promise.all(reads);
    assert.deepEqual(ended, ['other', 'first', 'second']);
  });

  it('indexes each passage by the words of its text, its heading, the title and the file name', async () => {
    const text = `---\ntitle: Returns\n---\n${'# Gloves\n\nWool lasts.\n\n# Hats\n\nFelt.\n\n'.repeat(60)}`;
    const { passages, bytes } = await readerWith().read('org', 'docs/winter-shop.md', {
      bytes: Buffer.from(text),
    });
    assert.equal(passages.length, 120);
    assert.deepEqual(passages[118]?.terms.toSorted(), ['glove', 'lasts', 'return', 'shop', 'winter', 'wool']);
    assert.equal(bytes, 60 * Buffer.byteLength('GlovesWool lasts.HatsFelt.'));
  });

  it('refuses a document with more passages, or more text with its headings, than the limits', async () => {
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
      message: 'holds more than 700 characters of text: split it',
    });
  });

  it('cuts long headings and titles, keeps the full heading once as text, and drops a long URL', async () => {
    const long = 'word '.repeat(2_000).trim();
    const { title, passages } = await read('a.md', `# Other\n\n# ${long}\n\n## Below\n\nText.`);
    assert.equal(title, 'Other');
    const last = passages.at(-1)!;
    assert.equal([...last.heading].length, 200 + ' › Below'.length);
    assert.match(last.heading, /^word word .*… › Below$/);
    assert.ok(passages.filter(({ text }) => text.startsWith('word')).length > 5);
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
    'open brackets': '['.repeat(300_000),
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
  const impatient = readerWith({ documentReadMs: 2_000 });
  for (const [name, text] of Object.entries(hostile)) {
    it(`settles for ${name}`, async () => {
      for (const ending of ['.md', '.html', '.txt']) {
        const startedAt = performance.now();
        await readDocument(`a${ending}`, Buffer.from(`${text}end`), impatient).then(
          (document) => assert.ok(document.passages.every((passage) => passage.text.trim() !== '')),
          (error) => assert.ok(error instanceof UnreadableDocument),
        );
        assert.ok(performance.now() - startedAt < 30_000);
      }
    });
  }
});
