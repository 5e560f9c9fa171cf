/** What the request log says of a request. */
export interface AnsweredRequest {
  readonly traceId: string;
  readonly method: string;
  /** The pattern of the route, never the path that was requested. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly organization: string | undefined;
  readonly credential: string | undefined;
  readonly person: string | undefined;
}
