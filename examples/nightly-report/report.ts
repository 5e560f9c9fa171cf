import type { ThreadMessage, ThreadWithMessages } from '@skein/client';

/** A page of Markdown about threads. */
export function report(threads: readonly ThreadWithMessages[], since: string): string {
  const failed = threads.filter(({ status }) => status.state === 'error').length;
  const head = `# Published threads\n\nSince ${since}: ${threads.length}, of which ${failed} failed.\n`;
  return [head, ...threads.map(section)].join('\n');
}

function section({ thread, messages }: ThreadWithMessages): string {
  const title = `## [${plain(thread.title)}](${thread.threadUrl})`;
  const account = thread.accountId === null ? [] : [`Account ${plain(thread.accountId)}`];
  return `${[title, ...account, ...messages.map(passage)].join('\n\n')}\n`;
}

function passage({ role, status, content, sources }: ThreadMessage): string {
  const state = status === null || status === 'completed' ? '' : ` (${status})`;
  const titles = (sources ?? []).map(({ title }, index) => `${index + 1}. ${plain(title)}`);
  const lines = [`**${role}**${state}`, quote(content)];
  return [...lines, ...(titles.length === 0 ? [] : [titles.join('\n')])].join('\n\n');
}

function quote(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

/** One line, without characters that mean something in Markdown. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>#|]/g, '\\$&');
}
