import { UnreadableDocument } from '../../domain/document.ts';
import type { Limits } from '../../domain/limits.ts';

export function checkTextLength(length: number, { documentLengthMax }: Limits): void {
  if (length > documentLengthMax) {
    const most = documentLengthMax.toLocaleString('en');
    throw new UnreadableDocument(`holds more than ${most} characters of text: split it`);
  }
}
