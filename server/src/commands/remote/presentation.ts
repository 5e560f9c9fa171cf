import type { Source, Thread, ThreadMessage, ThreadWithMessages } from '../../../../client/src/index.ts';
import { printable } from '../output.ts';
import { shown } from './terminal.ts';

/** The text of a reply, its numbered sources, and the id and URL of its thread. */
export function replyText(reply: ThreadMessage, thread: Thread): string {
  return `${shown(reply.content)}\n\n${replyNotes(reply, thread)}`;
}

/** What follows the text of a reply. */
export function replyNotes({ sources }: ThreadMessage, thread: Thread): string {
  return [sourceLines(sources), threadReference(thread)].filter((part) => part !== '').join('\n\n');
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
  const lines = [head, ...(content === '' ? [] : [shown(content)])].join('\n');
  return [lines, sourceLines(sources)].filter((part) => part !== '').join('\n\n');
}

function sourceLines(sources: readonly Source[] | null): string {
  return (sources ?? [])
    .map(({ title, url }, index) => printable(`[${index + 1}] ${title}${url === null ? '' : `  ${url}`}`))
    .join('\n');
}

function threadReference({ id, threadUrl }: Thread): string {
  return printable(threadUrl === null ? id : `${id}  ${threadUrl}`);
}
