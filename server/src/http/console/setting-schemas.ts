import { Type } from 'typebox';
import { iso } from '../../domain/iso-time.ts';
import { limits } from '../../domain/limits.ts';

export const settingPath = Type.Object({ organizationId: Type.String(), id: Type.String() });

/** What people call a credential. */
export const settingName = Type.String({
  format: 'text',
  minLength: 1,
  maxLength: limits.nameLengthMax.default,
});

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
