import { hash } from 'node:crypto';

/** Weak: it identifies the content, not the bytes (a list's cursor is sealed differently each time). */
export function entityTag(representation: string): string {
  return `W/"${hash('sha1', representation, 'base64url')}"`;
}

/** Whether `If-None-Match` names the tag, by weak comparison (RFC 9110 §13.1.2). */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === opaque);
}
