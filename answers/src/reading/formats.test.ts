import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reads, readText } from '../../testing/reads.ts';

const printedPage = `LS(1)\t\t\t User Commands\t\t\t LS(1)

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

ENVIRONMENT
       o   One

       o   Two

GNU coreutils 9.1		  April 2022				 LS(1)
`;

describe('reading Markdown', () => {
  reads(
    'reads the title and the URL in the front matter',
    [
      'docs/returns.md',
      '---\ntitle: "Returns: how"\nurl: https://example.com/returns\ntags: [a]\n---\n# Returns\n\nThirty days.\n',
    ],
    [': Thirty days.'],
    { title: 'Returns: how', url: 'https://example.com/returns' },
  );
  reads(
    'does not use a later heading as the title',
    ['koa.md', '## Installation\n\nInstall it.\n\n# License\n\nMIT'],
    ['Installation: Install it.', 'License: MIT'],
    { title: 'koa' },
  );
  reads(
    'leaves out a table of contents',
    ['a.md', '# A\n\n- [Usage](#usage)\n  - [API](#api)\n- [Site](https://a.example)\n- See [API](#api).'],
    [': - Site\n- See API.'],
  );
  reads(
    'tells a rule from front matter',
    ['a.md', '---\n\nSome text.\n\n---\n\nMore.'],
    [': Some text.\n\nMore.'],
  );
  reads(
    'ignores a URL that is not HTTP',
    ['a.md', '---\nurl: javascript:alert(1)\n---\nText.'],
    [': Text.'],
    { url: null },
  );
  reads(
    'removes Markdown syntax',
    [
      'a.md',
      '# *The* `title`\n\nA **bold** [link](https://x.y) &amp; `&amp;` ![logo](l.png)\nnext<br>line \\*.\n\n> Quoted.\n',
    ],
    [': A bold link & &amp; next line *.\n\nQuoted.'],
    { title: 'The title' },
  );
  reads(
    'reads the text around a main element',
    ['a.md', 'Before it.\n\nPut it into the <main> element.\n\nAfter it.'],
    [': Before it.\n\nPut it into the\n\nelement.\n\nAfter it.'],
  );
  reads(
    'reads brackets that stay open as text, and links after them',
    ['a.md', `${'['.repeat(100)} \\[ and [a link](https://x.y)\n\n[Another](https://x.y).`],
    [`: ${'['.repeat(100)} [ and a link\n\nAnother.`],
  );
  reads(
    'reads lists, tables, code and HTML',
    [
      'a.md',
      'Need:\n\n1. a\n   - b\n2. [x] c\n\n   more\n\n| Plan | Price |\n|---|---|\n| Pro | $1 |\n| Free | |\n\n```sh\nrun  --it\n\n\tnow\n```\n\n<details><summary>Why?</summary>So.</details>\n<!-- hidden -->\n',
    ],
    [
      ': Need:\n\n1. a\n- b\n2. c more\n\n| Plan | Price |\n| --- | --- |\n| Pro | $1 |\n| Free |  |\n\n```\nrun  --it\n\n\tnow\n```',
      'Why?: So.',
    ],
  );
  reads(
    'uses the file name as the title if there is no other',
    ['some/folder/price-list.MD', 'Text.'],
    [': Text.'],
    { title: 'price-list' },
  );
});

describe('reading plain text', () => {
  reads(
    'reads a tab as the space up to the next column',
    ['t.txt', 'The handbook\n\nThe new\toffices\tin town\nare not\tyet for\tvisits.\n'],
    [': The new offices in town are not yet for visits.'],
  );
  reads(
    'keeps code that starts like an answer',
    ['c.md', 'How do I configure it?\n\n```\nA: 1\nB: 2\n```\n'],
    ['How do I configure it?: ```\nA: 1\nB: 2\n```'],
  );
  reads(
    'reads paragraphs, lists and underlined headings',
    [
      'm.txt',
      'The manual\n\nWrapped\nlines.\n\nSetup\n-----\nYou need:\n- a pen\n  and ink\n* paper\n○ pencils\n\n2) last\n',
    ],
    [': Wrapped lines.', 'Setup: You need:\n\n- a pen and ink\n- paper\n- pencils\n2. last'],
    { title: 'The manual', url: null },
  );
  reads(
    'does not use a sentence as the title',
    ['notes.text', 'It began.\n\nIt ended.'],
    [': It began.\n\nIt ended.'],
    { title: 'notes' },
  );
  reads(
    'reads an option within running text and a command that ends with ? as text',
    [
      'a.txt',
      'It saves data, using the\n-o,  --output or -O options.  If\nit gets many.\n\n$ test; echo $?\n\nIt prints 0.',
    ],
    [
      ': It saves data, using the -o, --output or -O options. If it gets many.\n\n$ test; echo $?\n\nIt prints 0.',
    ],
  );
  reads(
    'makes one passage of a question and its answer',
    [
      'faq.txt',
      'Q. Is it free?\n\nQ: Does it cost?\n\nA. Yes, it is.\n\n1.1. Who made it?\nWe did.\n\n- How?\n\nBy hand.',
    ],
    [
      'Is it free? Does it cost?: Yes, it is.',
      '1.1. Who made it?: We did.',
      '1.1. Who made it? › How?: By hand.',
    ],
  );
  reads(
    'keeps questions without an answer as text',
    ['faq.md', '**Why?**\n\nSo.\n\n- Who?\n- What?\n\nEnd?'],
    ['Why?: So.\n\n- Who?\n- What?\n\nEnd?'],
  );
  reads(
    'recognizes headings that are underlined, numbered or in capitals',
    [
      'a.txt',
      'Manual\n\nINSTALLING IT\nRun it.\n\n1. Setup\n\nText.\n\n1.2 More of it\n\nOther.\n\n---------\n2. Next\n---------\n\n1. Open it.\n\n2. Close it.\n',
    ],
    [
      'INSTALLING IT: Run it.',
      'INSTALLING IT › 1. Setup: Text.',
      'INSTALLING IT › 1. Setup › 1.2 More of it: Other.',
      '2. Next: 1. Open it.\n2. Close it.',
    ],
  );
  reads(
    'joins words hyphenated at a line end, and keeps real hyphens',
    [
      'a.txt',
      'A config-\nuration of well-\nknown and first-class or first-\nclass parts: UTF-\n8, --no-\nverify, pre-\nand post-steps, host-spe\u2010\ncific.',
    ],
    [
      ': A configuration of well-known and first-class or first-class parts: UTF-8, --no-verify, pre- and post-steps, host-specific.',
    ],
  );
  reads(
    'keeps columns, and removes the bold print of terminals',
    ['a.txt', 'T\u0008Two of them.\n\na      b\nc      d'],
    [': Two of them.\n\n```\na      b\nc      d\n```'],
  );
  reads(
    'makes a passage of each option of a page that `man` printed',
    ['page.txt', printedPage],
    [
      'NAME: ls - list directory contents',
      'DESCRIPTION: List information about the FILEs. Sort entries if none is specified.',
      'DESCRIPTION: -a, --all\ndo not ignore entries starting with .',
      'DESCRIPTION: -c\nwith -lt: sort by ctime; otherwise: sort\n\nA second paragraph.',
      'DESCRIPTION: -h, --human\nprint sizes like 1K',
      'DESCRIPTION: The SIZE argument is an integer.',
      'ENVIRONMENT: - One\n- Two',
    ],
    { title: 'ls(1)' },
  );
  reads(
    'keeps a line that ends with the name of the page, unless it starts at the edge',
    [
      'page.txt',
      'TAR(1)          GNU TAR Manual          TAR(1)\n\nNAME\n       tar - an archiver\n\nNOTES\n' +
        '       Never extract them as root with TAR(1)\n       unless you trust them.\n\nTAR 1.34        2026        TAR(1)\n',
    ],
    ['NAME: tar - an archiver', 'NOTES: Never extract them as root with TAR(1) unless you trust them.'],
    { title: 'tar(1)' },
  );

  it('keeps long questions that share an answer', async () => {
    const questions = ['first', 'second', 'third'].map(
      (name) => `Is the ${name} one ${'very '.repeat(25)}long?`,
    );
    const { passages } = await readText('faq.txt', `${questions.join('\n\n')}\n\nYes.`);
    assert.deepEqual(
      passages.map(({ text }) => text),
      [`${questions.join(' ')}\n\nYes.`],
    );
  });

  it('repeats an option whose description is longer than a passage', async () => {
    const long = Array.from({ length: 40 }, () => '      One two three four five six seven.').join('\n');
    const { passages } = await readText('a.txt', `Usage\n\n  -x, --long=ARG\n${long}\n`);
    assert.ok(passages.length > 1);
    assert.ok(passages.every(({ text }) => text.startsWith('-x, --long=ARG\nOne two')));
  });

  it('reads long runs of letters without a space or a hyphen', async () => {
    for (const letters of ['a'.repeat(500_000), '\u6587'.repeat(260_000)]) {
      const { passages } = await readText('a.txt', `MANUAL\n\n${letters}\n\nEnd with a-b.`);
      assert.ok(passages.every(({ heading }) => heading === 'MANUAL'));
      const text = passages.map((passage) => passage.text).join('');
      assert.ok(text.split(letters[0]!).length > letters.length);
    }
  });
});

describe('reading HTML', () => {
  reads(
    'uses the first heading as the title, even below a list of definitions',
    ['d.html', '<dl><dt>Version<dd>2</dl><h1>Looms</h1><p>Use them.'],
    [': Version\n2', ': Use them.'],
    { title: 'Looms' },
  );
  reads(
    'reads a list in a table cell without its markers',
    ['t.html', '<table><tr><th>Plan<th>Parts<tr><td>Pro<td><ul><li>disk<li>mail</ul></table>'],
    [': | Plan | Parts |\n| --- | --- |\n| Pro | disk mail |'],
  );
  reads(
    'removes the link sign at the end of a heading, and ignores empty headings',
    [
      'h.html',
      '<h2>Setup<a href="#s"><span>¶</span></a></h2><dl><dt>-b<dd>Bee.<h3></h3><p>More.</dl><h2>Use ¶</h2><p>Use it.',
    ],
    ['Setup: -b\nBee.\n\nMore.', 'Use: Use it.'],
  );
  reads(
    'leaves out menus, scripts, footers and hidden elements',
    [
      'r.htm',
      `<!doctype html><title>Returns – Shop</title><link rel="canonical" href="https://x.y/r">
      <body><nav>Menu</nav><script>bad()</script><style>p{}</style><template>no</template><h1>Returns <a aria-hidden="true">#</a></h1>
      <p>Within <b>thir</b>ty&nbsp;days<br>only.<p hidden>secret</p><ul><li>a<ul><li>b</ul><li><p>c</p><p>d</p></ul>
      <h2>Prices<span><a href="#p">#</a></span></h2><table><caption>All</caption><tr><th>Plan<th>Price<tr><td>Pro<td>1<tr><td colspan=2>Free</table>
      <pre>\n  x\n    y\n</pre><dl><dt>Term<dd><p>Meaning</p></dl><footer>Imprint</footer>`,
    ],
    [
      ': Within thirty days only.\n\n- a\n- b\n- c d',
      'Prices: All\n\n| Plan | Price |\n| --- | --- |\n| Pro | 1 |\n| Free |  |\n\n```\n  x\n    y\n```',
      'Prices: Term\nMeaning',
    ],
    { title: 'Returns – Shop', url: 'https://x.y/r' },
  );
  reads(
    'reads only the main element if there is one',
    ['a.html', '<div>Banner</div><main><h1>T</h1><p>Text.</main><div>Ads</div>'],
    [': Text.'],
    { title: 'T' },
  );
  reads(
    'repeats cells that span rows or columns, and makes a passage of each definition',
    [
      'a.html',
      `<table><tr><th>Plan<th colspan=2>Price<tr><td rowspan=2>Pro<td>1<td>EUR<tr><td>2<td>USD</table>
       <dl><div><dt>One<dd>First.<pre>x</pre></div><dt>Two<dt>Three<dd>Last.<dd>More.</dl><ul>${'<li>i'.repeat(3)}</ul>`,
    ],
    [
      ': | Plan | Price | Price |\n| --- | --- | --- |\n| Pro | 1 | EUR |\n| Pro | 2 | USD |',
      ': One\nFirst.\n\n```\nx\n```',
      ': Two, Three\nLast.\n\nMore.',
      ': - i\n- i\n- i',
    ],
  );
  reads(
    'does not take a question in a description for a heading, and removes bullets that are text',
    ['a.html', '<dl><dt>Term<dd><p>Is it so?<p>Yes.</dl><ul><li>a<ul><li>- b<li>• c</ul></ul>'],
    [': Term\nIs it so?\n\nYes.', ': - a\n- b\n- c'],
  );
  reads(
    'numbers a list from its start, or else from 1',
    ['a.html', '<ol start=0><li>a<li>b</ol><ol start=x><li>c</ol><ol><li>d</ol>'],
    [': 0. a\n1. b\n1. c\n1. d'],
  );
  reads(
    'does not join a term without a description to the text after the list',
    ['a.html', '<dl><dt>One<dt>Two</dl><p>Text.'],
    [': One, Two', ': Text.'],
  );
  const longTerms = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(80));
  reads(
    'shares a description among terms as far as they fit into one label',
    ['a.html', `<dl>${longTerms.map((term) => `<dt>${term}`).join('')}<dd>Meaning.</dl>`],
    [`: ${longTerms.slice(0, 2).join(', ')}`, `: ${longTerms.slice(2).join(', ')}\nMeaning.`],
  );
  reads(
    'reads layout tables as ordinary blocks',
    ['a.html', '<table><tr><td><h2>A</h2><p>One.<td><table><tr><td>K<td>V</table></table>'],
    ['A: One.\n\n|  |  |\n| --- | --- |\n| K | V |'],
  );

  reads(
    'keeps lists of links to other pages',
    ['team.html', '<h1>Team</h1><ul><li><a href="ann.html">Ann leads support</a><li><a href="#x">X</a></ul>'],
    [': - Ann leads support'],
  );

  it('reads links that contain lists once', { timeout: 60_000 }, async () => {
    const { passages } = await readText('a.html', '<ul><li><a href="#x">t<marquee>'.repeat(40));
    assert.equal(passages.length, 1);
  });
});
