const lineFeed = 0x0a;
const emptyLine = '\r\n\r\n';

interface MessageEnd {
  /** Up to the first empty line, which ends headers and chunked bodies; everything if there is none. */
  readonly length: number;
  readonly isEnd: boolean;
  /** The lines in it, if their number is limited. */
  readonly lines: number;
  /** The beginning of an empty line that the next data may continue. */
  readonly lastBytes: string;
}

/** Finds the end of the headers or of the chunked body that the data continues, or stops after `linesMax` lines. */
export function findMessageEnd(data: Buffer, lastBytes: string, linesMax: number): MessageEnd {
  const kept = emptyLine.length - 1;
  const seam = lastBytes + data.toString('latin1', 0, kept);
  const inSeam = seam.indexOf(emptyLine);
  const inData = inSeam === -1 ? data.indexOf(emptyLine) : -1;
  const isFound = inSeam !== -1 || inData !== -1;
  const found = inSeam !== -1 ? inSeam - lastBytes.length : inData;
  const end = isFound ? found + emptyLine.length : data.length;
  const { length, lines } = Number.isFinite(linesMax)
    ? limitLines(data, end, linesMax)
    : { length: end, lines: 0 };
  const isEnd = isFound && length === end;
  const tail = isEnd
    ? ''
    : (lastBytes + data.toString('latin1', Math.max(0, length - kept), length)).slice(-kept);
  return { length, isEnd, lines, lastBytes: tail };
}

function limitLines(data: Buffer, end: number, linesMax: number): { length: number; lines: number } {
  let lines = 0;
  for (let at = data.indexOf(lineFeed); at !== -1 && at < end; at = data.indexOf(lineFeed, at + 1)) {
    lines += 1;
    if (lines === linesMax) return { length: at + 1, lines };
  }
  return { length: end, lines };
}
