import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { type LanguageModelOptions, languageModel } from '../src/models/language.ts';
import type { FoundPassage } from '../src/port/documents.ts';
import type { ConversationTurn } from '../src/port/model.ts';
import {
  type DraftEvent,
  type Drafter,
  ModelError,
  type PassageSearch,
  type ReplyRequest,
} from '../src/port/model.ts';
import { type ProviderStandIn, startProvider } from './provider-stand-in.ts';

export const apiKey = 'sk-stand-in-Zq81-Zq81-secret';

export const refunds = passage('doc_1', 'Refund policy', 'Refunds', 'Refunds take thirty days. Ask support.');
export const shipping = passage('doc_2', 'Shipping', '', 'Parcels leave on Mondays. Ask the depot.');
export const fees = passage(
  'doc_3',
  'Fees',
  'Cards › Abroad',
  'Cards cost two percent abroad. At home nothing.',
);

function passage(id: string, title: string, heading: string, text: string): FoundPassage {
  return { documentId: id, name: title, title, url: null, heading, text };
}

/** Finds fees for the question `fees`, and refunds and shipping for any other. */
export const library: PassageSearch = {
  search: async (_organizationId, _accountId, question) => ({
    searched: 1_214,
    passages: question === 'fees' ? [shipping, fees] : [refunds, shipping],
  }),
};

/** The first events of every draft with that library. */
export const found: DraftEvent[] = [
  { type: 'step', description: 'Searching 1,214 passages' },
  { type: 'step', description: 'Reading Refund policy' },
  { type: 'step', description: 'Reading Shipping' },
  { type: 'passages', passages: [refunds, shipping] },
];
/** The stand-in's answer to a prompt without a command. */
export const goodText = 'Refunds take thirty days [1].';

export interface Outcome {
  readonly events: DraftEvent[];
  /** The events after `found`. */
  readonly own: DraftEvent[];
  readonly text: string;
  readonly error: unknown;
}

interface Trial {
  readonly provider: LanguageModelOptions['provider'];
  readonly standIn: ProviderStandIn;
  modelWith(options?: Partial<LanguageModelOptions>): Drafter;
  /** Drafts until it ends or fails. Creates a model if none is given. */
  draft(
    conversation: string | readonly ConversationTurn[],
    options?: Partial<LanguageModelOptions>,
    model?: Drafter,
  ): Promise<Outcome>;
}

/** Runs the same tests for every provider, each with its own stand-in. */
export function describeDrafts(what: string, guarantees: (trial: Trial) => void): void {
  for (const provider of ['openai-compatible', 'anthropic'] as const) {
    describe(`${what} of ${provider}`, () => {
      let standIn: ProviderStandIn;
      before(async () => {
        standIn = await startProvider();
      });
      after(() => standIn.close());
      const modelWith: Trial['modelWith'] = (options = {}) =>
        languageModel({
          provider,
          model: 'stand-in',
          name: 'stand-in',
          baseUrl: standIn.url,
          apiKey,
          library,
          silenceMs: 20_000,
          replyLengthMax: 100_000,
          ...options,
        });
      guarantees({
        provider,
        get standIn() {
          return standIn;
        },
        modelWith,
        draft: (conversation, options, model = modelWith(options)) => collectOutcome(model, conversation),
      });
    });
  }
}

async function collectOutcome(
  model: Drafter,
  conversation: string | readonly ConversationTurn[],
): Promise<Outcome> {
  const events: DraftEvent[] = [];
  let error: unknown;
  try {
    for await (const event of model.draft(buildRequest(conversation))) events.push(event);
  } catch (thrown) {
    error = thrown;
  }
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  return { events, own: events.slice(found.length), text, error };
}

export function buildRequest(
  conversation: string | readonly ConversationTurn[],
  signal = new AbortController().signal,
): ReplyRequest {
  const turns: readonly ConversationTurn[] =
    typeof conversation === 'string' ? [{ role: 'user', content: conversation }] : conversation;
  return {
    organizationId: 'org_1',
    accountId: null,
    conversation: turns,
    attempt: 1,
    signal,
  };
}

export function steps(events: readonly DraftEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'step' ? [event.description] : []));
}

export function assertModelError(error: unknown, transient: boolean, message: string | RegExp): ModelError {
  assert.ok(error instanceof ModelError, String(error));
  if (typeof message === 'string') assert.equal(error.message, message);
  else assert.match(error.message, message);
  assert.equal(error.transient, transient, error.message);
  return error;
}

export async function drained(drafted: AsyncIterable<DraftEvent>): Promise<DraftEvent[]> {
  const events: DraftEvent[] = [];
  for await (const event of drafted) events.push(event);
  return events;
}
