/** The one file of the server that the application knows: types alone. */
export type * from '../../../server/src/http/console/contract.ts';
