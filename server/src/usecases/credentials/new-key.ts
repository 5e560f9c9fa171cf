import { counted } from '../../../../runtime/src/pure/text.ts';
import { apiKeyHint, generateApiKey } from '../../domain/credential.ts';
import { forbidden, invalid, organizationNotFound, type ServiceError } from '../../domain/errors.ts';
import type { IdGenerator } from '../../domain/id.ts';
import type { KeySecret } from '../../storage/port/store.ts';
import { type Change, withCommand } from '../audit-note.ts';

/** What secrets are made of, and the hash that the store keeps. */
export interface SecretSource {
  readonly randomBytes: (size: number) => Uint8Array;
  readonly crc32: (text: string) => number;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

export function newKey(
  ids: Pick<IdGenerator, 'key'>,
  { randomBytes, crc32, sha256 }: SecretSource,
): { key: string; secret: KeySecret } {
  const key = generateApiKey(randomBytes, crc32);
  return { key, secret: { id: ids.key(), hash: sha256(key), hint: apiKeyHint(key) } };
}

/** Why no credential was issued. Only organizations for which the public API is enabled get credentials (§1). */
export function notIssued(
  { organizationId, initiator }: Change,
  outcome: 'api-disabled' | 'organization-missing' | 'too-many',
  tooMany = '',
): ServiceError {
  if (outcome === 'organization-missing') return organizationNotFound();
  if (outcome === 'too-many') return invalid(tooMany);
  const fact = `The public API is not enabled for ${organizationId}`;
  const command = `'skein org set ${organizationId} --api on' enables it`;
  return forbidden(withCommand(initiator, fact, command));
}

export function tooManyKeys(max: number): string {
  return `The organization has reached the limit of ${counted(max, 'key')}. Revoke unused keys, or ask an admin to do so.`;
}
