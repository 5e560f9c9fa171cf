import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import type { Thread, ThreadMessage, ThreadWithMessages } from '../../../../client/src/index.ts';
import { LiveText, liveLine, replyText, type Terminal, threadText, viewReply } from './terminal.ts';

/** A terminal of one line: text stays until the cursor returns to the start of the line. */
function fakeStream({ isTTY = true, columns = 40 } = {}) {
  let written = '';
  const stream = {
    isTTY,
    columns,
    write(text: string) {
      written += text;
      return true;
    },
    on() {},
  } as unknown as WriteStream;
  const visible = () => stripVTControlCharacters(written.split('\r').at(-1) as string);
  return { stream, visible, written: () => written };
}

function bold(text: string): string {
  return `\u001b[1m${text}\u001b[22m`;
}

function createTerminal(stdout: WriteStream, stderr: WriteStream, env = {}): Terminal {
  return { stdout, stderr, env };
}

describe('The status line', () => {
  it('shows the current step and the elapsed time on one line, and is removed at the end', ({ mock }) => {
    mock.timers.enable({ apis: ['setInterval'] });
    let nowMs = 5000;
    const { stream, visible, written } = fakeStream();
    const line = liveLine(stream, 'Waiting', () => nowMs);
    assert.equal(visible(), '0 s  Waiting');
    nowMs += 2000;
    mock.timers.tick(2000);
    assert.equal(visible(), '2 s  Waiting');
    line.show('Reading the contract');
    assert.equal(visible(), '2 s  Reading the contract');
    nowMs += 65_000;
    mock.timers.tick(1000);
    assert.equal(visible(), '1 min 7 s  Reading the contract');
    line.end();
    assert.equal(visible(), '');
    assert.ok(!written().includes('\n'));
    const before = written();
    mock.timers.tick(5000);
    assert.equal(written(), before, 'nothing is drawn after the end');
  });

  it('stays on one line, whatever a step is called', () => {
    const { stream, visible, written } = fakeStream();
    const line = liveLine(stream, 'a\nb\u001b[2Jc', () => 0);
    assert.equal(visible(), '0 s  a\uFFFDb\uFFFD[2Jc');
    const longName = 'x'.repeat(100);
    line.show(longName);
    line.end();
    const drawn = written()
      .split('\r')
      .filter((one) => one.includes('x'));
    assert.deepEqual(
      drawn.map((one) => stripVTControlCharacters(one)),
      [`0 s  ${longName}`],
    );
    // The terminal does not wrap it.
    assert.ok(drawn.every((one) => one.startsWith('\u001b[?7l') && one.endsWith('\u001b[?7h')));
  });
});

describe('The steps of a reply', () => {
  it('are shown on the status line if both streams are a terminal', () => {
    const [out, err] = [fakeStream(), fakeStream()];
    const view = viewReply(createTerminal(out.stream, err.stream));
    view.onStep?.({ description: 'Reading' });
    assert.equal(err.visible(), '0 s  Reading');
    view.end();
    assert.equal(err.visible(), '');
    assert.equal(out.written(), '');
  });

  it('are neither requested nor shown in a pipe, or on a terminal that cannot clear a line', () => {
    const [terminal, pipe] = [fakeStream(), fakeStream({ isTTY: false })];
    const blind = [
      createTerminal(pipe.stream, terminal.stream),
      createTerminal(terminal.stream, pipe.stream),
      createTerminal(terminal.stream, terminal.stream, { TERM: 'dumb' }),
    ];
    for (const one of blind) {
      const view = viewReply(one, { text: true });
      assert.equal(view.onStep, undefined);
      assert.equal(view.onText, undefined);
      view.end();
    }
    assert.equal(`${terminal.written()}${pipe.written()}`, '');
  });

  it('are printed one per line on standard error with --verbose', () => {
    const [out, err] = [fakeStream({ isTTY: false }), fakeStream({ isTTY: false })];
    const view = viewReply(createTerminal(out.stream, err.stream), { verbose: true, text: true });
    view.onStep?.({ description: 'Reading\u0007' });
    view.onStep?.({ description: 'Writing' });
    view.end();
    assert.equal(err.written(), 'Reading\uFFFD\nWriting\n');
    assert.equal(out.written(), '');
  });
});

describe('The text of a reply', () => {
  it('replaces the status line and is written as it grows', () => {
    const [out, err] = [fakeStream(), fakeStream()];
    const view = viewReply(createTerminal(out.stream, err.stream), { text: true });
    view.onStep?.({ description: 'Reading' });
    view.onText?.('Thirty');
    assert.equal(err.visible(), '');
    view.onStep?.({ description: 'Writing' });
    view.onText?.('Thirty days.');
    view.end();
    view.end();
    assert.equal(out.written(), 'Thirty days.\n');
    assert.equal(err.visible(), '', 'a later step does not draw into the text');
  });

  it('is written again in its place if it changes, also over several rows', () => {
    const { stream, written } = fakeStream({ columns: 10 });
    const text = new LiveText(stream);
    text.show('Thirty days\n\n漢字漢字漢字');
    const before = written().length;
    text.show('Ten days [1].');
    // Two rows, an empty one, and two of six wide characters.
    assert.equal(written().slice(before), '\r\u001b[4A\u001b[JTen days [1].');
    text.show('Ten');
    assert.ok(written().endsWith('\r\u001b[1A\u001b[JTen'));
    text.show('Two');
    assert.ok(written().endsWith('\r\u001b[JTwo'));
  });

  it('is written again below if its start has left the screen, and contains no control characters', () => {
    const { stream, written } = fakeStream();
    const text = new LiveText(stream);
    text.show(`${'line\n'.repeat(30)}end\u001b[2J`);
    assert.ok(!written().includes('\u001b'));
    text.show('Corrected.');
    assert.ok(written().endsWith('\n\nCorrected.'));
  });
});

describe('A bold phrase of a growing reply', () => {
  const text = 'It is **ten *short* days** [1].\n* one\n2 ** 3 *';

  it('is written once, when it is complete, and no character is lost', () => {
    const { stream, written } = fakeStream();
    const live = new LiveText(stream);
    for (let length = 1; length <= text.length; length += 1) live.show(text.slice(0, length));
    live.end();
    assert.equal(written(), `It is ${bold('ten *short* days')} [1].\n* one\n2 ** 3 *\n`);
  });

  it('is found in linear time, however many phrases do not end', () => {
    const { stream, written } = fakeStream();
    const live = new LiveText(stream);
    // Comparing every pair of them would take half an hour.
    const open = '**a '.repeat(500_000);
    live.show(`${open}\n**b**`);
    live.end();
    assert.equal(written(), `${open}\n${bold('b')}\n`);
  });

  it('takes no more columns than its letters', () => {
    const { stream, written } = fakeStream({ columns: 8 });
    const live = new LiveText(stream);
    live.show('**ten days** [');
    live.show('Corrected.');
    assert.ok(written().endsWith('\r\u001b[1A\u001b[JCorrected.'));
  });
});

const thread: Thread = {
  id: 'thr_1',
  title: 'Refunds',
  createdAt: '2026-11-15T09:30:00.000Z',
  updatedAt: null,
  accountId: 'acct_42',
  secondaryId: null,
  published: true,
  deleted: false,
  threadUrl: 'https://skein.example/threads/thr_1',
};
const reply: ThreadMessage = {
  id: 'msg_2',
  threadId: thread.id,
  role: 'assistant',
  content: 'Thirty days [1].\n\nNot for yarn that was wound [2].',
  status: 'completed',
  createdAt: thread.createdAt,
  completedAt: thread.createdAt,
  steps: [],
  sources: [
    { id: 'doc_1', title: 'Refunds', url: 'https://docs.example/refunds', snippet: 'Thirty days.' },
    { id: 'doc_2', title: 'Yarn', url: null, snippet: 'Wound yarn stays.' },
  ],
  attachments: null,
  model: 'extractive',
};

describe('A reply on a terminal', () => {
  const { stream: pipe } = fakeStream({ isTTY: false });

  it('shows bold phrases in bold and leaves code unchanged', () => {
    const content = 'The **log level** is `**debug`, not `**info`.\n```\nf(**a**b)\n```\n2 ** 3 ** 4 **open';
    const text = replyText({ ...reply, content, sources: [] }, thread, fakeStream().stream);
    assert.equal(
      text.split('\n\n')[0],
      `The ${bold('log level')} is \`**debug\`, not \`**info\`.\n\`\`\`\nf(**a**b)\n\`\`\`\n2 ** 3 ** 4 **open`,
    );
  });

  it('shows its text, its numbered sources, and the id and URL of the thread', () => {
    assert.equal(
      replyText(reply, thread, pipe),
      [
        'Thirty days [1].',
        '',
        'Not for yarn that was wound [2].',
        '',
        '[1] Refunds  https://docs.example/refunds',
        '[2] Yarn',
        '',
        'thr_1  https://skein.example/threads/thr_1',
      ].join('\n'),
    );
  });

  it('never moves the cursor or breaks a line, whatever the text contains', () => {
    const hostile = '\u001b]0;owned\u0007\u001b[2J\r\u0085x';
    const source = { id: 'doc_1', title: `a\n[9] forged${hostile}`, url: null, snippet: '' };
    const text = replyText(
      { ...reply, content: `One\r\n\tTwo${hostile}`, sources: [source] },
      { ...thread, threadUrl: `x${hostile}` },
      pipe,
    );
    assert.doesNotMatch(text, /[^\P{Cc}\n\t]/u);
    assert.deepEqual(text.split('\n').slice(0, 2), [
      'One',
      '\tTwo\uFFFD]0;owned\uFFFD\uFFFD[2J\uFFFD\uFFFDx',
    ]);
    assert.ok(!text.includes('\n[9] forged'));
  });
});

describe('A thread on a terminal', () => {
  it('has a header, and each message with its author and status', () => {
    const question = { ...reply, role: 'user', status: null, content: 'How long?', sources: null } as const;
    const status = { state: 'error', activeMessageId: null, latestUpdate: null, stepCount: 0 } as const;
    const failed: ThreadMessage = { ...reply, status: 'failed', content: 'It could not.', sources: null };
    const whole: ThreadWithMessages = { thread, messages: [question, reply, question, failed], status };
    const text = threadText(whole);
    assert.ok(
      text.startsWith(
        'Refunds\nthr_1 · error · created 2026-11-15T09:30:00.000Z · account acct_42 · published\n\nuser:\nHow long?\n\nassistant:\nThirty days [1].',
      ),
      text,
    );
    assert.ok(text.endsWith('[2] Yarn\n\nuser:\nHow long?\n\nassistant, failed:\nIt could not.'), text);
  });

  it('has no control characters, whatever the service sends in any field', () => {
    const evil = 'x\u001b]0;y\u0007\u009b2J' as never;
    const poisoned = { id: evil, title: evil, url: evil, snippet: evil };
    const message = { ...reply, role: evil, status: evil, content: evil, sources: [poisoned] };
    const status = { state: evil, activeMessageId: null, latestUpdate: null, stepCount: 0 };
    const whole = { thread: { ...thread, ...poisoned, accountId: evil }, messages: [message], status };
    assert.doesNotMatch(threadText(whole), /[^\P{Cc}\n]/u);
  });
});
