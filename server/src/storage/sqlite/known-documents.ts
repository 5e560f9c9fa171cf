import type { FoundPassage } from '../../domain/document.ts';
import type { PassageNumber } from '../store.ts';
import type { Database } from './database.ts';

/** What searches have read of the documents of one organization. */
export interface Known {
  /** By account key. */
  readonly passageCounts: Map<string, number>;
  /** By account key, limit and term. */
  readonly holders: Map<string, PassageNumber[]>;
  readonly passages: Map<PassageNumber, FoundPassage & { number: PassageNumber }>;
}

interface Listed {
  readonly documents: string | null;
  readonly count: number;
}

/** An organization with more documents has no cache: comparing them would take longer than it saves. */
const documentsMax = 200;
/** Of all organizations together, approximately. */
const bytesMax = 16_000_000;

/**
 * Caches what searches read, per organization, as long as it has the same documents: a document that is ready never
 * changes. To be used within the transaction that reads what is not known yet.
 */
export class KnownDocuments {
  readonly #list;
  readonly #known = new Map<string, Known & { documents: string | null }>();
  #bytes = 0;

  constructor(database: Database) {
    this.#list = database.prepare<[object], Listed>(
      `SELECT group_concat(id) AS documents, count(*) AS count FROM (
         SELECT id FROM document WHERE organization_id = @organizationId AND state = 'ready'
         LIMIT ${documentsMax + 1})`,
    );
  }

  of(organizationId: string): Known {
    const { documents, count } = this.#list.get({ organizationId })!;
    const known = this.#known.get(organizationId);
    if (known?.documents === documents && count <= documentsMax) return known;
    const fresh = { documents, passageCounts: new Map(), holders: new Map(), passages: new Map() };
    if (count <= documentsMax) this.#known.set(organizationId, fresh);
    else this.#known.delete(organizationId);
    return fresh;
  }

  /** To be called when something was added. */
  grew(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < bytesMax) return;
    this.#known.clear();
    this.#bytes = 0;
  }
}
