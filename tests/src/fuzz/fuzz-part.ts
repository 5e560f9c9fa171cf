/** The threads and credentials that the requests use. */
export interface Fixture {
  readonly key: string;
  readonly orgWideKey: string;
  readonly revokedKey: string;
  /** A key of an organization without the public API. */
  readonly outsideKey: string;
  readonly threadId: string;
  readonly foreignPublishedId: string;
}

/** The possible faults of a request, in the order in which the service checks them. The first fault decides the status. */
export const statusOfFault = {
  http: 400,
  outside: 404,
  credential: 401,
  disabled: 404,
  route: 404,
  forbidden: 403,
  validation: 400,
  thread: 404,
  creator: 403,
} as const;
export type Fault = keyof typeof statusOfFault;

export type Operation = 'get' | 'list' | 'create' | 'rename' | 'delete';

/** One piece of a request: its content and its fault. */
export interface Part<T = string> {
  readonly value: T;
  readonly fault?: Fault | undefined;
}

export interface Framing {
  readonly style: 'length' | 'chunked' | 'broken';
  /** Replaces the framing fields if the style is broken. */
  readonly fields?: readonly string[];
  readonly cut?: boolean;
}
