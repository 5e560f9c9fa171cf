import { setImmediate as turn } from 'node:timers/promises';
import type { OrganizationId } from '../../domain/id.ts';
import type { Findings } from '../../domain/library.ts';
import type { Documents } from '../../storage/store.ts';
import { nominate } from './nomination.ts';
import { type Concept, readQuestion, type Wording } from './question.ts';
import { rankPassages, type WeighedConcept, type WeighedQuestion } from './ranking.ts';
import { respellings } from './spelling.ts';
import { stopWords } from './stop-words.ts';
import { TermIndex } from './term-index.ts';

export type PassageStore = Pick<Documents, 'findPassages' | 'readPassages' | 'outlineDocuments'>;

/** What was found, and how much each word of the question told about where to look. */
export interface SearchFindings extends Findings {
  readonly question: WeighedQuestion;
  /** Of each passage, in the same order. */
  readonly scores: readonly number[];
}

/** How many texts are read and ranked: a few milliseconds of work. */
const candidatesMax = 40;

/** In two stages: words nominate candidates by what the index knows, and the texts of the best are read and ranked. */
export async function searchPassages(
  store: PassageStore,
  organizationId: OrganizationId,
  accountId: string | null,
  text: string,
  limit: number,
): Promise<SearchFindings> {
  const { concepts: asked, ...rest } = readQuestion(text);
  const index = new TermIndex((terms, holdersMax) =>
    store.findPassages(organizationId, accountId, terms, holdersMax),
  );
  await index.lookUp(asked.flatMap(({ wordings }) => wordings.flatMap(contentOf)));
  await index.lookUpTogether(asked.map(({ term }) => term));
  const concepts = (await withRespellings(asked, index)).map((concept) => weigh(concept, index));
  const candidates = nominate(concepts, index, candidatesMax);
  await turn();
  const read = await store.readPassages(organizationId, candidates);
  await turn();
  const question = { ...rest, concepts, rarityMax: rarity(0, index.passageCount) };
  const ranked = rankPassages(question, read, limit);
  return {
    searched: index.passageCount,
    passages: ranked.map(({ passage }) => passage),
    scores: ranked.map(({ score }) => score),
    question,
  };
}

export function contentOf({ phrase }: Pick<Wording, 'phrase'>): string[] {
  return phrase.filter((token) => !stopWords.has(token));
}

const respeltMax = 2;
const respellingCertainty = 0.8;

/** A word that no passage holds, in no wording, may be misspelt. */
async function withRespellings(concepts: readonly Concept[], index: TermIndex): Promise<Concept[]> {
  const respelt: Concept[] = [];
  let tried = 0;
  for (const concept of concepts) {
    const isUnknown = concept.wordings.every((wording) => !heldBy(wording, index));
    const terms = isUnknown && index.passageCount > 0 && tried < respeltMax ? respellings(concept.word) : [];
    if (terms.length > 0) tried++;
    await index.lookUp(terms);
    const best = terms.reduce((a, b) => (index.held(b) > index.held(a) ? b : a), concept.term);
    const wording: Wording = { phrase: [best], certainty: respellingCertainty };
    respelt.push(best === concept.term ? concept : { ...concept, wordings: [wording] });
  }
  return respelt;
}

/** How many passages may hold the wording; undefined for words that are not in the index, such as 'at least'. */
function heldBy(wording: Wording, index: TermIndex): number | undefined {
  const content = contentOf(wording);
  return content.length === 0 ? undefined : Math.min(...content.map((term) => index.held(term)));
}

/** The fewer passages hold a word, the more it tells. */
function rarity(holders: number, passageCount: number): number {
  return Math.log(1 + (passageCount - holders + 0.5) / (holders + 0.5));
}

/** How often words that are not in the index are taken to occur. */
const unindexedShare = 0.2;

function weigh(concept: Concept, index: TermIndex): WeighedConcept {
  const { passageCount } = index;
  const own = rarity(index.held(concept.term), passageCount);
  const wordings = concept.wordings
    .map((wording) => {
      const held = heldBy(wording, index) ?? unindexedShare * passageCount;
      // However rare, another word tells no more than the one that was asked.
      return { ...wording, held, weight: wording.certainty * Math.min(own, rarity(held, passageCount)) };
    })
    .filter(({ held }) => held > 0);
  return { ...concept, wordings, weight: own };
}
