/** The types of the backend's requests and responses, derived from the schemas of its routes. Types only: no code. */
export type * from '../../../server/src/http/console/session-schemas.ts';
export type * from '../../../server/src/http/console/setting-schemas.ts';
export type * from '../../../server/src/http/console/thread-schemas.ts';
