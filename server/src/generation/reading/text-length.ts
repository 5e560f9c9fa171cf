import { UnreadableDocument } from '../../domain/document.ts';

const textLengthMax = 5_000_000;

export function checkTextLength(length: number): void {
  if (length > textLengthMax) {
    throw new UnreadableDocument('holds more than 5,000,000 characters of text: split it');
  }
}
