import type { WriteStream } from 'node:tty';
import type { Source, Thread, ThreadMessage, ThreadWithMessages } from '../../../../client/src/index.ts';
import { clearStatus, measureWidth, paint, printable, printableLines, showStatus } from '../output.ts';

/** The output of a command, a terminal or a pipe. `process` implements it. */
export interface Terminal {
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** Shows `**bold**` in bold, except in code. A phrase contains no `**`, so that the search takes linear time. */
function withBold(text: string, stream: WriteStream): string {
  return text.replace(
    /```[\s\S]*?(?:```|$)|`[^`\n]*`|\*\*(?=\S)((?:(?!\*\*).)+)(?<=\S)\*\*/g,
    (whole, phrase?: string) => (phrase === undefined ? whole : paint('bold', phrase, stream)),
  );
}

/**
 * Shows a running reply: on a terminal, a status line with the current step and, if `text` is set, the text as it arrives;
 * with `verbose`, one line per step on any output. Without `onStep` and `onText`, the client polls less often.
 */
export function viewReply({ stdout, stderr, env }: Terminal, { verbose = false, text = false } = {}) {
  const live = stdout.isTTY && stderr.isTTY && env.TERM !== 'dumb';
  const line = live && !verbose ? liveLine(stderr, 'Waiting for the reply') : undefined;
  const body = live && text ? new LiveText(stdout) : undefined;
  const printStep = ({ description }: { description: string }) => {
    if (verbose) stderr.write(`${printable(description)}\n`);
    else line?.show(description);
  };
  const onText = (textSoFar: string) => {
    line?.end();
    body?.show(textSoFar);
  };
  return {
    onStep: verbose || live ? printStep : undefined,
    onText: body && onText,
    /** Leaves the cursor at the start of a line. */
    end(): void {
      line?.end();
      body?.end();
    },
  };
}

/** A text that is written as it grows. If it changes in another way, it is written again in its place. */
export class LiveText {
  readonly #stream: WriteStream;
  #text = '';
  #written = '';

  constructor(stream: WriteStream) {
    this.#stream = stream;
  }

  show(textSoFar: string): void {
    this.#text = withBold(printableLines(textSoFar).replaceAll('\t', '    '), this.#stream);
    // A bold phrase is written when it is complete, so that nothing has to be written again.
    this.#write(this.#text.replace(/(?:\*\*(?:(?!\*\*).)*|\*)$/, ''));
  }

  #write(text: string): void {
    const isLonger = text.startsWith(this.#written);
    this.#stream.write(isLonger ? text.slice(this.#written.length) : `${this.#erased()}${text}`);
    this.#written = text;
  }

  end(): void {
    this.#write(this.#text);
    if (this.#written !== '' && !this.#written.endsWith('\n')) this.#stream.write('\n');
    this.#text = '';
    this.#written = '';
  }

  /** Returns to the start of the text. Lines that have left the screen cannot be erased: the text is then written below. */
  #erased(): string {
    // Some terminals report 0.
    const [columns, rows] = [this.#stream.columns || 80, this.#stream.rows || 24];
    // Bold takes no columns.
    const lines = this.#written.replace(/\p{Cc}\[\d+m/gu, '').split('\n');
    const heights = lines.map((line) => Math.max(1, Math.ceil(measureWidth(line) / columns)));
    const height = heights.reduce((sum, one) => sum + one, 0);
    if (height > rows) return '\n\n';
    return `\r${height > 1 ? `\u001b[${height - 1}A` : ''}\u001b[J`;
  }
}

/** A status line with the elapsed time, which is removed at the end. */
export function liveLine(stream: WriteStream, doing: string, now: () => number = () => performance.now()) {
  const startedAt = now();
  let current = doing;
  let ended = false;
  const draw = () => showStatus(stream, `${elapsed(now() - startedAt)}  ${printable(current)}`);
  const timer = setInterval(draw, 1000);
  draw();
  return {
    show(next: string): void {
      current = next;
      if (!ended) draw();
    },
    end(): void {
      if (ended) return;
      ended = true;
      clearInterval(timer);
      clearStatus(stream);
    },
  };
}

/** `7 s`, `2 min 7 s`. */
function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The text of a reply, its numbered sources, and the id and URL of its thread. */
export function replyText(reply: ThreadMessage, thread: Thread, stream: WriteStream): string {
  return `${withBold(printableLines(reply.content), stream)}\n\n${replyNotes(reply, thread)}`;
}

export function replyNotes({ sources }: ThreadMessage, { id, threadUrl }: Thread): string {
  const thread = printable(threadUrl === null ? id : `${id}  ${threadUrl}`);
  return [sourceLines(sources), thread].filter((part) => part !== '').join('\n\n');
}

export function threadText({ thread, messages, status }: ThreadWithMessages): string {
  const facts = [
    thread.id,
    status.state,
    `created ${thread.createdAt}`,
    ...(thread.accountId === null ? [] : [`account ${thread.accountId}`]),
    ...(thread.published ? ['published'] : []),
  ];
  const head = `${printable(thread.title)}\n${facts.map(printable).join(' · ')}`;
  return [head, ...messages.map(messageText)].join('\n\n');
}

function messageText({ role, status, content, sources }: ThreadMessage): string {
  const head = status === null || status === 'completed' ? `${role}:` : `${role}, ${status}:`;
  const lines = [printable(head), ...(content === '' ? [] : [printableLines(content)])].join('\n');
  return [lines, sourceLines(sources)].filter((part) => part !== '').join('\n\n');
}

function sourceLines(sources: readonly Source[] | null): string {
  return (sources ?? [])
    .map(({ title, url }, index) => printable(`[${index + 1}] ${title}${url === null ? '' : `  ${url}`}`))
    .join('\n');
}
