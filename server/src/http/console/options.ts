import type { Limits } from '../../domain/limits.ts';
import type { ConfiguredModel } from '../../domain/model-trial.ts';
import type { HeldRequests } from '../held-requests.ts';

/** What the backend of the console needs to know about the service. */
export interface ConsoleOptions {
  readonly limits: Limits;
  readonly model: ConfiguredModel;
  /** The folder for temporary files of uploads. */
  readonly uploadFolder: string;
  /** The public URL of the service. */
  readonly baseUrl: () => string;
  /** The base URL of the token endpoint. */
  readonly authUrl: () => string;
  /** Whether browsers use HTTPS. If so, cookies are sent only over HTTPS. */
  readonly secure: () => boolean;
  /** Ends held requests and streams when the service stops. */
  readonly heldRequests: HeldRequests;
}
