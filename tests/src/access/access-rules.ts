/**
 * Who may do what, written only from the specification (§4, §5, §7) and the design (§5, §9). The tests compare the
 * service with this table, so nothing here may be taken from the service.
 */

/** Credentials by the identity that they give. An application's token is `service`, like an org-wide key (§5.2). */
export const credentials = {
  none: 'nobody',
  malformed: 'nobody',
  unknown: 'nobody',
  'revoked personal key': 'nobody',
  'revoked org-wide key': 'nobody',
  'token of a deleted application': 'nobody',
  'token of a rotated application': 'nobody',
  "Ada's personal key": 'ada',
  "Ben's personal key": 'ben',
  'org-wide key': 'service',
  'application token': 'service',
} as const satisfies Record<string, Identity>;

export type Owner = 'ada' | 'ben';
type Identity = Owner | 'service' | 'nobody';
export type CredentialName = keyof typeof credentials;
export const credentialNames = Object.keys(credentials) as CredentialName[];

/** The state of the credential's organization: with the public API, without it, or with its quota used up. */
export const standings = ['with the API', 'without the API', 'out of quota'] as const;
export type Standing = (typeof standings)[number];

export const operations = [
  'create',
  'get',
  'list',
  'rename',
  'delete',
  'create with an invalid body',
  'list with an invalid query',
  'rename with an invalid body',
] as const;
export type Operation = (typeof operations)[number];

/** Whose thread it is. The owners are the same people in both organizations; credentials belong to `own`. */
export interface ThreadKind {
  readonly organization: 'own' | 'another';
  readonly owner: Owner;
  readonly published: boolean;
  readonly deleted: boolean;
}

/** What an operation names: a thread, an unused id, or a malformed id. */
export type Target = ThreadKind | 'missing' | 'malformed id';

const threadKinds: ThreadKind[] = (['own', 'another'] as const).flatMap((organization) =>
  (['ada', 'ben'] as const).flatMap((owner) =>
    [false, true].flatMap((published) =>
      [false, true].map((deleted) => ({ organization, owner, published, deleted })),
    ),
  ),
);

export const targets: readonly Target[] = [...threadKinds, 'missing', 'malformed id'];

export interface Cell {
  readonly credential: CredentialName;
  readonly standing: Standing;
  readonly operation: Operation;
  readonly target: Target;
}

/** Every combination for this credential and standing. */
export function listCells(credential: CredentialName, standing: Standing): Cell[] {
  return targets.flatMap((target) =>
    operations.map((operation) => ({ credential, standing, operation, target })),
  );
}

export interface Outcome {
  readonly status: number;
  /** Undefined if the operation succeeds. */
  readonly code: string | undefined;
}

interface Check {
  readonly refusal: Outcome;
  refuses(cell: Cell, identity: Identity): boolean;
}

const unauthorized = { status: 401, code: 'UNAUTHORIZED' };
const notFound = { status: 404, code: 'NOT_FOUND' };
const rateLimited = { status: 429, code: 'RATE_LIMITED' };
const forbidden = { status: 403, code: 'FORBIDDEN' };
const invalidParams = { status: 400, code: 'INVALID_PARAMS' };

/** In the order in which the service must check: the first check that fails decides. */
const checks: readonly Check[] = [
  { refusal: unauthorized, refuses: (_, identity) => identity === 'nobody' },
  { refusal: notFound, refuses: ({ standing }) => standing === 'without the API' },
  { refusal: rateLimited, refuses: ({ standing }) => standing === 'out of quota' },
  { refusal: forbidden, refuses: ({ operation }, identity) => isWrite(operation) && identity === 'service' },
  { refusal: invalidParams, refuses: ({ operation }) => operation.includes('invalid') },
  {
    refusal: notFound,
    refuses: ({ operation, target }, identity) => namesThread(operation) && !isReadable(target, identity),
  },
  {
    refusal: forbidden,
    refuses: ({ operation, target }, identity) =>
      namesThread(operation) && isWrite(operation) && (target as ThreadKind).owner !== identity,
  },
];

export function expectedOutcome(cell: Cell): Outcome {
  const identity = credentials[cell.credential];
  const refusing = checks.find((check) => check.refuses(cell, identity));
  return refusing?.refusal ?? { status: cell.operation === 'create' ? 201 : 200, code: undefined };
}

/** §4.2: the identity's own threads and published ones; never deleted ones, never those of another organization. */
export function isReadable(target: Target, identity: Identity): boolean {
  if (typeof target === 'string' || target.deleted || target.organization === 'another') return false;
  return target.published || target.owner === identity;
}

function isWrite(operation: Operation): boolean {
  return /^(create|rename|delete)/.test(operation);
}

function namesThread(operation: Operation): boolean {
  return /^(get|rename|delete)/.test(operation);
}

export function formatTarget(target: Target): string {
  if (typeof target === 'string') return target;
  const { organization, owner, published, deleted } = target;
  return `${organization} organization, ${owner}'s, ${published ? 'published' : 'unpublished'}, ${deleted ? 'deleted' : 'live'}`;
}
