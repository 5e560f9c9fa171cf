/** Limits for reading documents. A file that exceeds one cannot be read, unless the limit says otherwise. */
export interface ReadingLimits {
  readonly documentBytesMax: number;
  /** Characters of all passages with the headings above them. */
  readonly documentLengthMax: number;
  readonly documentPassagesMax: number;
  /** A longer title is cut. */
  readonly documentTitleLengthMax: number;
  /** A longer URL is left out: a shortened one would lead elsewhere. */
  readonly documentUrlLengthMax: number;
  /** A longer heading is cut. */
  readonly headingLengthMax: number;
  /** How many files are read at once. */
  readonly documentReaders: number;
  readonly documentReadMs: number;
  /** For the heap of a process that reads. What it unpacks outside of the heap may take as much again. */
  readonly documentReadMb: number;
}
