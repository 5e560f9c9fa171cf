import type { Json } from '../api/contract.ts';
import { webLink } from './safe-link.ts';
import { groupExchanges } from './versions.ts';

/** A reply with the list of its sources, numbered like its citations. */
export function replyMarkdown({ content, sources }: Json<'reply'>): string {
  if (sources === null || sources.length === 0) return content;
  const list = sources.map((source, at) => `${at + 1}. ${sourceMarkdown(source)}`);
  return `${content.trimEnd()}\n\n**Sources**\n\n${list.join('\n')}\n`;
}

function sourceMarkdown({ title, url }: Json<'source'>): string {
  const name = title.replace(/\s+/g, ' ').replace(/[\\[\]<>*_`]/g, '\\$&');
  const link = webLink(url);
  return link === undefined ? name : `[${name}](<${link}>)`;
}

/** The current version of each prompt and reply, in parts. A prompt is quoted, so that its own headings stay inside. */
export function* threadMarkdown({ thread, messages }: Json<'threadView'>): Generator<string> {
  yield `# ${thread.title.replace(/\s+/g, ' ')}\n`;
  for (const exchange of groupExchanges(messages)) {
    const { prompt, replies } = exchange.at(-1)!;
    yield `\n> ${prompt.content.replace(/\r\n?|\n/g, '\n> ')}\n`;
    const reply = replies.at(-1);
    if (reply !== undefined) yield `\n${replyMarkdown(reply).trimEnd()}\n`;
  }
}

const nameLengthMax = 80;
/** Names that Windows reserves for devices, with any extension. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/** A name that every file system accepts, and that cannot leave its folder or pose as another kind of file. */
export function buildFileName(title: string, ending: 'md' | 'json'): string {
  const words = [
    ...title
      .normalize('NFC')
      .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
      .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-'),
  ]
    .slice(0, nameLengthMax)
    .join('')
    .replace(/^-+|-+$/g, '');
  return `${words === '' || reserved.test(words) ? 'thread' : words}.${ending}`;
}
