import type { Limits } from '../../domain/limits.ts';
import type { ConfiguredModel } from '../../domain/model-trial.ts';
import type { HeldRequests } from '../held-requests.ts';

/** What the console's backend is told about the service around it. */
export interface ConsoleOptions {
  readonly limits: Limits;
  readonly model: ConfiguredModel;
  /** Where the files of uploads are while they are read. */
  readonly uploadFolder: string;
  /** Where people reach the service. */
  readonly baseUrl: () => string;
  /** Where access tokens are issued. */
  readonly authUrl: () => string;
  /** Whether people reach it by HTTPS: their cookies are then sent no other way. */
  readonly secure: () => boolean;
  /** Requests that wait, and streams, end when the service stops. */
  readonly heldRequests: HeldRequests;
}
