import { constants, deflateRawSync } from 'node:zlib';

/** A line of a PDF for tests. */
export interface PdfLine {
  readonly text: string;
  readonly x?: number;
  readonly y: number;
  readonly size?: number;
}

interface PdfOptions {
  readonly title?: string;
  /** Protects the file with an unknown password. */
  readonly isProtected?: boolean;
  /** Puts an image on each page, as a scan would. */
  readonly hasImages?: boolean;
}

/** Creates a PDF with one page per list of lines. Letters outside WinAnsi are mapped by the font's `ToUnicode`. */
export function makePdf(pages: readonly (readonly PdfLine[])[], options: PdfOptions = {}): Uint8Array {
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  add('<< /Type /Catalog /Pages 2 0 R >>');
  add('');
  const glyphs = glyphCodes(pages.flat().map((line) => line.text));
  const map = add(stream(toUnicode(glyphs)));
  const font = add(
    `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode ${map} 0 R >>`,
  );
  const image = add(
    stream(
      '\x80',
      '/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8',
    ),
  );
  const kids = pages.map((lines) => {
    const content = lines.map((line) => lineOperators(line, glyphs)).join('\n');
    const picture = options.hasImages ? '\nq 600 0 0 800 0 0 cm /I Do Q' : '';
    const contents = add(stream(content + picture));
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${contents} 0 R ` +
        `/Resources << /Font << /F ${font} 0 R >> /XObject << /I ${image} 0 R >> >> >>`,
    );
  });
  objects[1] = `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`;
  const trailer = ['/Root 1 0 R'];
  if (options.title !== undefined) trailer.push(`/Info ${add(`<< /Title (${options.title}) >>`)} 0 R`);
  if (options.isProtected) {
    const secret = `<${'5a'.repeat(32)}>`;
    const encrypt = add(`<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O ${secret} /U ${secret} >>`);
    trailer.push(`/Encrypt ${encrypt} 0 R /ID [<${'00'.repeat(16)}> <${'00'.repeat(16)}>]`);
  }
  return assemble(objects, trailer.join(' '));
}

/** Lines of a paragraph, one below the other. */
export function setLines(top: number, lines: readonly string[], size = 10): PdfLine[] {
  return lines.map((text, index) => ({ text, y: top - index * size * 1.2, size }));
}

/** A page with that many megabytes of spaces, compressed to a thousandth. */
export function makeUnfoldingPdf(megabytes: number): Uint8Array {
  const one = deflateRawSync(Buffer.alloc(1024 * 1024, ' '), { finishFlush: constants.Z_FULL_FLUSH });
  const header = '\x78\x9c';
  const content = header + one.toString('latin1').repeat(megabytes);
  return assemble(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>',
      stream(content, '/Filter /FlateDecode'),
    ],
    '/Root 1 0 R',
  );
}

function assemble(objects: readonly string[], trailer: string): Uint8Array {
  let file = '%PDF-1.4\n';
  const offsets = objects.map((body, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  file += `trailer\n<< /Size ${objects.length + 1} ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(file, 'latin1'));
}

function stream(content: string, dictionary = ''): string {
  return `<< ${dictionary} /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

function lineOperators({ text, x = 72, y, size = 10 }: PdfLine, glyphs: ReadonlyMap<string, number>): string {
  const codes = [...text].map((letter) =>
    (glyphs.get(letter) ?? letter.charCodeAt(0)).toString(16).padStart(2, '0'),
  );
  return `BT /F ${size} Tf 1 0 0 1 ${x} ${y} Tm <${codes.join('')}> Tj ET`;
}

/** Codes for letters that are not ASCII, from 0xc0. */
function glyphCodes(texts: readonly string[]): Map<string, number> {
  const letters = new Set([...texts.join('')].filter((letter) => letter > '~'));
  return new Map([...letters].map((letter, index) => [letter, 0xc0 + index]));
}

function toUnicode(glyphs: ReadonlyMap<string, number>): string {
  const lines = [...glyphs].map(([letter, code]) => {
    const units = [...Array(letter.length).keys()].map((at) =>
      letter.charCodeAt(at).toString(16).padStart(4, '0'),
    );
    return `<${code.toString(16)}> <${units.join('')}>`;
  });
  const ascii = '<20> <7e> <0020>';
  return [
    '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def',
    '1 begincodespacerange <00> <ff> endcodespacerange',
    `1 beginbfrange ${ascii} endbfrange`,
    lines.length === 0 ? '' : `${lines.length} beginbfchar ${lines.join('\n')} endbfchar`,
    'endcmap end end',
  ].join('\n');
}
