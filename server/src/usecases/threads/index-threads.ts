import { shortened } from '../../../../runtime/src/pure/text.ts';
import { nextTurn } from '../../../../runtime/src/turns.ts';
import { plainText, type Vocabulary } from '../../domain/excerpt.ts';
import { deriveThreadStatus } from '../../domain/message.ts';
import type { IndexedThread, Store, ThreadHead, UnindexedThread } from '../../storage/port/store.ts';
import { messageParts } from './get-thread.ts';

const threadsAtOnce = 20;
/** A commit indexes this many words, which takes SQLite some 5 ms. */
const termsAtOnce = 2000;
/** Further words and characters of a very long thread are not indexed. */
const termsMax = 10_000;
const lengthMax = 1_000_000;
/** Characters that are split into words in one turn: a few milliseconds in scripts without spaces. */
const pieceLength = 4000;
const lineLength = 200;
const partOfThread = { limit: 50, bytesMax: 262_144 };

type Indexable = Parameters<Store['indexThreads']>[0][number];

interface ThreadIndexNeeds {
  readonly store: Pick<
    Store,
    'takeUnindexed' | 'indexThreads' | 'getThreadHead' | 'getThread' | 'listMessages'
  >;
  readonly vocabulary: Vocabulary;
}

export type IndexThreads = ReturnType<typeof createThreadIndex>;

export function createThreadIndex({ store, vocabulary }: ThreadIndexNeeds) {
  return indexThreads;

  /** `rest` is called after each batch, so that indexing leaves most of the processor to requests. */
  async function indexThreads(rest: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const due = await store.takeUnindexed(threadsAtOnce);
      if (due.length === 0) return;
      let batch: Indexable[] = [];
      let terms = 0;
      for (const each of due) {
        const entry = await createEntry(each);
        batch.push({ due: each, entry });
        terms += entry?.terms.length ?? 0;
        if (terms < termsAtOnce) continue;
        await store.indexThreads(batch);
        batch = [];
        terms = 0;
      }
      if (batch.length > 0) await store.indexThreads(batch);
      await rest();
    }
  }

  async function createEntry(due: UnindexedThread): Promise<IndexedThread | undefined> {
    const { organizationId, threadId } = due;
    const head = await store.getThreadHead(organizationId, threadId);
    if (head === undefined || head.thread.deletedAt !== null) return undefined;
    const { thread, version, latest } = head;
    const { state } = deriveThreadStatus([latest]);
    const line =
      state === 'in_progress' ? '' : shortened(plainText(latest.content.slice(0, 2000)), lineLength);
    return { thread, version, state, line, terms: await collectTerms(head) };
  }

  /** Starts with the title and the latest reply, so that even a very long thread is found by them. */
  async function collectTerms(head: ThreadHead): Promise<string[]> {
    const { thread, latest } = head;
    const terms = new Set<string>();
    let length = 0;
    let inTurn = 0;
    const isFull = () => terms.size >= termsMax || length >= lengthMax;
    const add = async (text: string) => {
      for (const piece of pieces(text)) {
        if (isFull()) return;
        if (inTurn + piece.length > pieceLength) {
          await nextTurn(thread.organizationId);
          inTurn = 0;
        }
        inTurn += piece.length;
        for (const word of vocabulary.splitWords(piece)) terms.add(vocabulary.toTerm(word));
        length += piece.length;
      }
    };
    await add(thread.title);
    if (latest.completedAt !== null) await add(latest.content);
    // A message that is added meanwhile may be missing, but its thread is indexed again.
    for await (const part of messageParts(store, thread, partOfThread)) {
      for (const message of part) {
        const isFinal = message.role === 'user' || message.completedAt !== null;
        if (isFinal && message.id !== latest.id) await add(message.content);
      }
      if (isFull()) break;
    }
    return [...terms].slice(0, termsMax);
  }
}

function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const whole = start + pieceLength >= text.length;
    const space = whole ? -1 : text.lastIndexOf(' ', start + pieceLength);
    const end = whole ? text.length : space > start ? space : start + pieceLength;
    yield text.slice(start, end);
    start = end;
  }
}
