import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDocument, readerWith } from '../../../testing/read-document.ts';
import { reads, readText } from '../../../testing/reads.ts';
import { defaultLimits } from '../../domain/limits.ts';

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

ENVIRONMENT
       o   One

       o   Two

GNU coreutils 9.1		  April 2022				 LS(1)
`;

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
.sp
.RS 4
.ie n \\{\\
\\h'-04'\\(bu\\h'+03'\\c
.\\}
.el \\{\\
.sp -1
.IP \\(bu 2.3
.\\}
three
.RE
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
Or
.Nm \\&[ ,
which ends
.Nm .
.It Cm to
As either
.Xo
.Sm off
.Op Ar user No @
.Ar host
.Op : Ns Ar port
.Sm on
.Xc
or an address.
.El
.Bl -enum
.It
First.
.It
Second.
.El
.Sh FORMATS
.Bl -column "Name" "Meaning"
.It Sy Name Ta Sy Meaning
.It Fl d Ta the day
of the month
.It Li %m
.Ta the month
.El
`;

describe('reading a manual page', () => {
  reads(
    'makes a passage of each option of a formatted page',
    ['page.txt', page],
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
  reads(
    'reads the source of a page in man macros',
    ['ls.1', man],
    [
      'NAME: ls - list directory contents',
      'OPTIONS AND MORE: See ls(5), too.\n\nSecond & last.\n\n- three',
      'OPTIONS AND MORE: -a, --all\nshow all\n\nand “more”',
      'OPTIONS AND MORE: -b, <x>\nbe brief',
      'OPTIONS AND MORE: -c\ncompact',
      'OPTIONS AND MORE: After:\n\n- one\n2. two\n\n```\n  code  \\ n\n```',
    ],
    { title: 'ls(1)' },
  );
  reads(
    'keeps the names of macros out of the text',
    [
      'tool.1',
      '.TH TOOL 1\n.UE\n.SH SYNOPSIS\n.SY tool\n.OP \\-a file\n.OP \\-v\n.YS\n.SH NOTES\nSee\n.SM\n.B HISTORY\nbelow,\n' +
        '.SB PATH\nand\n.UR https://tool.example\nthe manual\n.UE <br>.\nAsk\n.MT ada@tool.example\n.ME ,\nor read\n.MR ls 1 .\n',
    ],
    [
      'SYNOPSIS: tool [-a file] [-v]',
      'NOTES: See HISTORY below, PATH and https://tool.example the manual<br>. Ask ada@tool.example, or read ls(1).',
    ],
  );
  reads(
    'reads the source of a page in mdoc macros',
    ['cat.txt', mdoc],
    [
      'NAME: cat - print files',
      'SYNOPSIS: cat [-bn] [file ...]',
      'DESCRIPTION: -b=n, --blank\nNumber (see ls(1)), not blank. Or [, which ends cat.',
      'DESCRIPTION: to\nAs either [user@]host[:port] or an address.',
      'DESCRIPTION: 1. First.\n2. Second.',
      'FORMATS: - Name - Meaning\n- -d - the day of the month\n- %m - the month',
    ],
  );
  reads(
    'keeps the names of mdoc macros that only set a line or a word apart out of the text',
    [
      'keys.1',
      '.Dt KEYS 1\n.Sh EXAMPLES\nMake a\n.Tn DSA\nkey:\n.Dl $ ssh-keygen -t dsa\n.D1 $ ls\n.Bf -symbolic\nDone.\n.Ef\n',
    ],
    ['EXAMPLES: Make a DSA key:\n\n$ ssh-keygen -t dsa\n\n$ ls\n\nDone.'],
  );

  reads(
    'reads words of man macros that are also names of mdoc macros',
    ['tool.1', '.TH TOOL 1\n.SH NOTES\n.SB In this mode,\n.SB No\nmeans no.\n.MR Xr 2\n'],
    ['NOTES: In this mode, No means no. Xr(2)'],
  );

  it('reads words that are names of JavaScript properties', async () => {
    const source =
      '.TH FOO 3\n.SH NAME\nfoo \\- test\n.SH DESCRIPTION\nThe\n.B constructor\nbuilds an object.\n.Nm toString\n';
    const { passages } = await readText('foo.3', source);
    assert.match(passages.map(({ text }) => text).join('\n'), /constructor.*builds an object/s);
  });

  for (const [what, line] of [
    ['quotes', `.B ${'"'.repeat(300_000)}`],
    ['delimiters', `.Op ${'. '.repeat(300_000)}x`],
  ]) {
    it(`reads a line of 300,000 ${what} within the default time`, async () => {
      const source = `.TH FOO 3\n.SH NAME\nfoo \\- test\n${line}\n.SH NOTES\nThe end.\n`;
      const reader = readerWith({ documentReadMs: defaultLimits.documentReadMs });
      const { passages } = await readDocument('foo.3', Buffer.from(source), reader);
      assert.equal(passages.at(-1)!.text, 'The end.');
    });
  }
});
