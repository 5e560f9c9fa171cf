import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnswerEncoder, Asked } from './protocols.ts';

/** A request, and the encoder for its answer. */
export interface Exchange {
  readonly asked: Asked;
  readonly encoder: AnswerEncoder;
  readonly response: ServerResponse;
  /** The API key of the request. */
  readonly key: string;
  /** The rest of the command's line. */
  readonly words: string;
  /** How often each prompt has failed. */
  readonly failures: Map<string, number>;
}

/** The behaviors, by command. */
export const behaviors: Record<string, (exchange: Exchange) => Promise<void> | void> = {
  /** Accepts the request and sends nothing. */
  hang: () => {},
  /** Starts an answer and sends nothing more. */
  stall: (exchange) => begin(exchange),
  /** Starts an answer and breaks the connection. */
  cut: async (exchange) => {
    begin(exchange);
    await pause(20);
    exchange.response.destroy();
  },
  /** Breaks the connection before the answer. */
  reset: ({ response }) => void response.socket?.resetAndDestroy(),
  /** Starts an answer and ends the stream without the final event. */
  end: (exchange) => {
    begin(exchange);
    exchange.response.end();
  },
  /** Sends a whole answer and keeps the connection open. */
  linger: ({ asked, encoder, response }) => {
    const frames = [...encoder.begin(), ...encoder.text([goodAnswer(asked)]), ...encoder.end('stop')];
    stream(response).write(frames.join(''));
  },
  /** Ends the stream without sending anything. */
  empty: ({ response }) => void stream(response).end(),
  /** `!drip 50`: a word every 50 ms. */
  drip: async (exchange) => {
    const { encoder, response, words } = exchange;
    for (const frame of [
      ...encoder.begin(),
      ...encoder.text(splitWords(goodAnswer(exchange.asked))),
      ...encoder.end('stop'),
    ]) {
      if (response.destroyed) return;
      stream(response).write(frame);
      await pause(Number(words));
    }
    response.end();
  },
  /** `!status 429 retry-after=2`: the words with `=` are headers. The body repeats the key and the prompt. */
  status: ({ response, asked, key, words }) => {
    const [status, ...headers] = words.trim().split(/\s+/);
    for (const header of headers) response.setHeader(...(header.split(/=(.*)/s, 2) as [string, string]));
    refuse(response, Number(status), `Key ${key} asked: ${asked.prompt}`);
  },
  /** An error response whose body does not end. */
  'status-endless': ({ response }) => void response.writeHead(500).write('It'),
  /** `!fail 2 then ok`: the first requests with this prompt fail. */
  fail: (exchange) => {
    const { failures, asked, response, words } = exchange;
    const failed = failures.get(asked.prompt) ?? 0;
    if (failed >= Number.parseInt(words, 10)) return answerWell(exchange);
    failures.set(asked.prompt, failed + 1);
    refuse(response, 500, 'Not yet.');
  },
  /** `!refuse-tools and more`: the body repeats the words. */
  'refuse-tools': (exchange) => {
    if (!exchange.asked.hasTools) return answerWell(exchange);
    refuse(exchange.response, 400, `registry/stand-in does not support tools ${exchange.words}`);
  },
  redirect: ({ response }) => {
    const location = `http://localhost:${response.socket?.localPort}/v1/elsewhere`;
    response.writeHead(307, { location }).end();
  },
  /** Answers in another protocol, as on a port of a mail server. */
  'not-http': ({ response }) => void response.socket?.end('220 mail.example ESMTP\r\n'),
  html: ({ response }) => void response.setHeader('content-type', 'text/html').end('<h1>Welcome</h1>'),
  'bad-json': (exchange) => {
    begin(exchange);
    exchange.response.end('data: {"choices": [\n\n');
  },
  /** A text with invalid UTF-8. */
  'bad-utf8': ({ encoder, response }) => {
    const frames = [...encoder.begin(), ...encoder.text(['bad \u0001 bytes.']), ...encoder.end('stop')].join(
      '',
    );
    const [before = '', after = ''] = frames.split('\\u0001');
    stream(response).end(
      Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(after)]),
    );
  },
  /** Endless text. */
  huge: async ({ encoder, response }) => {
    const [open = '', delta = ''] = encoder.text(['0123456789 '.repeat(1_000)]);
    stream(response).write(encoder.begin().join('') + open);
    await writeOn(response, delta === '' ? open : delta);
  },
  'endless-line': async ({ response }) => {
    stream(response).write('data: ');
    await writeOn(response, 'a'.repeat(60_000));
  },
  /** Endless comments. */
  'endless-comments': async ({ response }) => {
    await writeOn(stream(response), `: ${'a'.repeat(1_000)}\n`.repeat(60));
  },
  /** The key in reasoning and in text, three characters at a time. */
  'echo-key': ({ encoder, response, key }) => {
    const pieces = `Your key is ${key}, keep it.`.match(/.{1,3}/gs) ?? [];
    send(response, [
      ...encoder.begin(),
      ...encoder.reasoning(pieces),
      ...encoder.text(pieces),
      ...encoder.end('stop'),
    ]);
  },
  'no-text': ({ encoder, response }) => send(response, [...encoder.begin(), ...encoder.end('stop')]),
  withhold: ({ encoder, response }) => send(response, [...encoder.begin(), ...encoder.end('content-filter')]),
  /** Stops at the token limit. */
  length: ({ encoder, response }) =>
    send(response, [...encoder.begin(), ...encoder.text(['As far as', ' this']), ...encoder.end('length')]),
  /** `!reasoning First. | Second.`: two paragraphs of reasoning, then an answer. */
  reasoning: ({ asked, encoder, response, words }) => {
    const reasoning = encoder.reasoning(splitWords(words.replaceAll(' | ', '\n\n')));
    const text = encoder.text(splitWords(goodAnswer(asked)));
    send(response, [...encoder.begin(), ...reasoning, ...text, ...encoder.end('stop')]);
  },
  /** `!tool fees`: searches for fees and answers from the result. */
  tool: (exchange) => {
    const { asked, encoder, response, words } = exchange;
    if (!asked.hasTools || asked.found !== undefined) return answerWell(exchange);
    const text = encoder.text(['Let me look.']);
    const call = encoder.toolCall(JSON.stringify({ query: words }));
    send(response, [...encoder.begin(), ...text, ...call, ...encoder.end('tool')]);
  },
  /** Reasons before it searches. */
  'reasoned-tool': (exchange) => {
    const { asked, encoder, response, words } = exchange;
    if (!asked.hasTools || asked.found !== undefined) return answerWell(exchange);
    const call = encoder.toolCall(JSON.stringify({ query: words }));
    send(response, [...encoder.begin(), ...encoder.reasoning(['Fees?']), ...call, ...encoder.end('tool')]);
  },
  /** `!tools 40`: that many searches in one answer. */
  tools: (exchange) => {
    const { asked, encoder, response, words } = exchange;
    if (asked.found !== undefined) return answerWell(exchange);
    const calls = Array.from({ length: Number(words) }, () => encoder.toolCall('{"query":"fees"}'));
    send(response, [...encoder.begin(), ...calls.flat(), ...encoder.end('tool')]);
  },
  /** `!tools-at-once 40`: that many searches in one event, if the protocol allows it. */
  'tools-at-once': ({ encoder, response, words }) =>
    send(response, [...encoder.begin(), ...encoder.toolCalls(Number(words)), ...encoder.end('tool')]),
  /** `!open-tool fees`: searches for fees in an answer that never ends. */
  'open-tool': ({ encoder, response, words }) => {
    const call = encoder.toolCall(JSON.stringify({ query: words }));
    for (const frame of [...encoder.begin(), ...call]) stream(response).write(frame);
  },
  /** Searches as often as allowed. */
  'tool-forever': (exchange) => {
    const { asked, encoder, response, words } = exchange;
    if (!asked.hasTools || asked.mustAnswer) return answerWell(exchange);
    const call = encoder.toolCall(JSON.stringify({ query: words }));
    send(response, [...encoder.begin(), ...call, ...encoder.end('tool')]);
  },
  /** `!bad-tool {"query":7}`: searches with this input. */
  'bad-tool': (exchange) => {
    const { asked, encoder, response, words } = exchange;
    if (asked.found !== undefined) return answerWell(exchange);
    send(response, [...encoder.begin(), ...encoder.toolCall(words), ...encoder.end('tool')]);
  },
  /** `!error overloaded_error`: starts an answer and sends an error event. */
  error: (exchange) => {
    begin(exchange);
    exchange.response.end(exchange.encoder.error(exchange.words).join(''));
  },
  /** Sends an error event first. */
  'error-first': ({ encoder, response, words }) => send(response, encoder.error(words)),
  /** `!deltas ["a","b"]`: the text in exactly these pieces. */
  deltas: ({ encoder, response, words }) =>
    send(response, [...encoder.begin(), ...encoder.text(JSON.parse(words)), ...encoder.end('stop')]),
};

export function answerWell({ asked, encoder, response }: Exchange): void {
  send(response, [
    ...encoder.begin(),
    ...encoder.text(splitWords(goodAnswer(asked))),
    ...encoder.end('stop'),
  ]);
}

/** The first sentence of the first passage or, after a search, of the last passage found. */
function goodAnswer({ instructions, found }: Asked): string {
  const passages = [
    ...(found ?? instructions).matchAll(/<passage number="(\d+)"[^>]*>\n([\s\S]*?)\n<\/passage>/g),
  ];
  const [, number, passage = ''] = (found === undefined ? passages[0] : passages.at(-1)) ?? [];
  const [sentence = ''] = passage.match(/[\s\S]*?[.!?](?=\s|$)/) ?? [passage];
  return number === undefined
    ? 'The documents do not say.'
    : `${sentence.replace(/[.!?]$/, '')} [${number}].`;
}

function splitWords(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}

function begin({ encoder, response }: Exchange): void {
  // Without the end of the block, because the answer continues.
  const frames = encoder.text(['The begin', 'ning']).filter((frame) => !frame.includes('content_block_stop'));
  stream(response).write([...encoder.begin(), ...frames].join(''));
}

function send(response: ServerResponse, frames: readonly string[]): void {
  for (const frame of frames) stream(response).write(frame);
  response.end();
}

function stream(response: ServerResponse): ServerResponse {
  return response.headersSent ? response : response.setHeader('content-type', 'text/event-stream');
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', error: { type: 'refused', message } }));
}

/** Writes until the client disconnects. */
async function writeOn(response: ServerResponse, piece: string): Promise<void> {
  function* pieces() {
    for (;;) yield piece;
  }
  await pipeline(Readable.from(pieces()), response);
}
