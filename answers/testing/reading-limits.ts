import type { ReadingLimits } from '../src/reading/reading-limits.ts';

/** Far above what the files of tests need, except where a test counts on the number. */
export const readingLimits: ReadingLimits = {
  documentBytesMax: 52_428_800,
  documentLengthMax: 5_000_000,
  documentPassagesMax: 5_000,
  documentTitleLengthMax: 255,
  documentUrlLengthMax: 2_048,
  headingLengthMax: 200,
  documentReaders: 2,
  documentReadMs: 30_000,
  documentReadMb: 256,
};
