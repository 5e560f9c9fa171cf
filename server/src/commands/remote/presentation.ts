import type { Source, Thread, ThreadMessage, ThreadWithMessages } from '../../../../client/src/index.ts';
import { printable } from '../command.ts';
import { shown } from './terminal.ts';

/** A reply for people: its text, its sources by the numbers that the text uses, and where the thread is. */
export function replyForPeople({ content, sources }: ThreadMessage, thread: Thread): string {
  return [shown(content), sourceLines(sources), whereabouts(thread)]
    .filter((part) => part !== '')
    .join('\n\n');
}

export function threadForPeople({ thread, messages, status }: ThreadWithMessages): string {
  const facts = [
    thread.id,
    status.state,
    `created ${thread.createdAt}`,
    ...(thread.accountId === null ? [] : [`account ${thread.accountId}`]),
    ...(thread.published ? ['published'] : []),
  ];
  const head = `${printable(thread.title)}\n${facts.map(printable).join(' · ')}`;
  return [head, ...messages.map(messageForPeople)].join('\n\n');
}

function messageForPeople({ role, status, content, sources }: ThreadMessage): string {
  const head = status === null || status === 'completed' ? `${role}:` : `${role}, ${status}:`;
  const lines = [head, ...(content === '' ? [] : [shown(content)])].join('\n');
  return [lines, sourceLines(sources)].filter((part) => part !== '').join('\n\n');
}

function sourceLines(sources: readonly Source[] | null): string {
  return (sources ?? [])
    .map(({ title, url }, index) => printable(`[${index + 1}] ${title}${url === null ? '' : `  ${url}`}`))
    .join('\n');
}

function whereabouts({ id, threadUrl }: Thread): string {
  return printable(threadUrl === null ? id : `${id}  ${threadUrl}`);
}
