import type { Reading } from './blocks.ts';
import { htmlBlocks } from './html.ts';

/** HTML for macros of man(7) and mdoc(7). An empty list ends the description of a term. */
const structure = new Map(
  Object.entries({
    '<dl></dl><p>': 'PP P LP HP Pp',
    '<p>': 'sp Sp',
    '<div>': 'RS INDENT',
    '</div>': 'RE UNINDENT',
    '<pre>': 'nf EX Vb Bd TS',
    '</pre>': 'fi EE Ve Ed TE',
    '': 'IX PD Dd Os Bk Ek Bf Ef UC DT AT',
  }).flatMap(([html, names]) => names.split(' ').map((name) => [name, html] as const)),
);
const enclosures = new Map(
  Object.entries({
    ...{ Op: '[]', Bq: '[]', Pq: '()', Aq: '<>', Brq: '{}', Dq: '“”', Qq: '""', Sq: '‘’', Ql: '‘’' },
    ...{ Oo: '[', Oc: ' ]', Bo: '[', Bc: ' ]', Po: '(', Pc: ' )', Do: '“', Dc: ' ”', So: '‘', Sc: ' ’' },
  }),
);
const mdocMacro =
  /^(?:A[nrp]|Cm|D[1lv]|E[mrv]|F[aclnot]|I[cn]|L[ik]|Mt|N[dmos]|P[af]|S[xy]|T[an]|V[at]|X[rco])$/;
const specialCharacters = new Map(
  `aq' dq" lq“ rq” oq‘ cq’ bu• em— en– hy- mi- co© rg® tm™ ha^ ti~ rs\\ ga\` aa´ sl/ at@ sh# Do$ lB[ rB] lC{ rC} la< ra>
  ->→ <-← >=≥ <=≤ !=≠ mu× +-± de° sc§ L"“ R"” C'' C\`' --— Aq'`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), entry.slice(2)] as const),
);
const escapeSequence =
  /\\(?:[fFn](?:\[[^\]]{0,99}\]|\(..|[-+]?.)|s[-+]?(?:\d\d?|\(..|\[..?\])|[hvwblLoxXZDN]'[^']{0,99}'|[mM]\[[^\]]{0,99}\]|\*?(?:\[([^\]]{0,99})\]|\((..))|\*(.)|"(.*)|(.))/g;

export function isManualSource(text: string): boolean {
  return /^\.\s*(?:TH|Dt)\s+\S/m.test(text.slice(0, 100_000)) && /^\.\s*S[Hh]\b/m.test(text);
}

/** Reads the source of a manual page as HTML. Each option, with its description, becomes a passage of its own. */
export function readManualPage(source: string): Reading {
  const page = new ManualPage();
  // Generated pages have an option as a paragraph, and its description indented below.
  const text = source.replace(/\\\n/g, '').replace(/^\.PP\n((?:[^.\n].*\n){1,3})(?=\.RS)/gm, '.TP\n$1');
  for (const line of text.split('\n')) page.addLine(line);
  return { title: page.title, blocks: htmlBlocks(page.html.join('\n')) };
}

class ManualPage {
  title: string | undefined;
  readonly html: string[] = [];
  readonly #strings = new Map<string, string>();
  readonly #lists: string[] = [];
  #name = '';
  /** The tag to put around the next line of text. */
  #tag: string | undefined;
  /** The last line to skip: the end of a definition, or of a branch that is not taken. */
  #skipTo: RegExp | undefined;
  #takesElse = false;
  /** Between `.Sm off` and `.Sm on`, text has no spaces. */
  #isTight = false;

  addLine(line: string): void {
    const [, name, rest = ''] = /^[.'][ \t]*([A-Za-z]\w*)?(.*)$/.exec(line) ?? ['', 'text', line];
    if (this.#skipTo !== undefined) this.#skipTo = this.#skipTo.test(line) ? undefined : this.#skipTo;
    else if (name === 'text' && line.trim() === '') this.html.push('<p>');
    else if (name === 'text') this.#addText(this.#plain(line));
    else if (/^(?:de|am|ig)1?$/.test(name ?? '')) this.#skipTo = /^\.[ \t]*\./;
    else if (/^(?:if|ie|el)$/.test(name ?? '')) this.#addCondition(name!, rest.trim());
    else if (name === 'ds')
      this.#strings.set(/\S+/.exec(rest)?.[0] ?? '', this.#plain(rest.replace(/^\s*\S+\s*"?/, '')));
    else if (name !== undefined) this.#addMacro(name, this.#words(rest));
  }

  /** Takes the branches for terminals, whose condition is `n`. */
  #addCondition(name: string, rest: string): void {
    const condition = name === 'el' ? '' : (/^\S+/.exec(rest)?.[0] ?? '');
    const holds = name === 'el' ? this.#takesElse : condition === 'n';
    this.#takesElse = name === 'ie' && !holds;
    if (holds) this.addLine(rest.slice(condition.length).replace(/^\s*(?:\\\{)?/, ''));
    else if (rest.includes('\\{') && !rest.includes('\\}')) this.#skipTo = /\\\}/;
  }

  #addMacro(name: string, words: readonly string[]): void {
    const [first = '', second = ''] = words;
    const displayBreak = /^D[1l]$/.test(name) ? ['<p>'] : [];
    this.html.push(...displayBreak);
    if (structure.has(name)) this.html.push(structure.get(name)!);
    else if (name === 'TH' || name === 'Dt') this.title = `${first.toLowerCase()}(${second})`;
    else if (/^S[HSsh]$/.test(name)) this.#start(/h$/i.test(name) ? 'h2' : 'h3', words.join(' '));
    else if (name === 'TP' || name === 'TQ') this.#start('dt', '');
    else if (name === 'IP') this.#addIndented(first);
    else if (name === 'Sm') {
      this.#isTight = first === 'off';
      this.html.push('');
    } else if (name === 'Bl') this.#addList(first);
    else if (name === 'It') this.#start(this.#lists.at(-1) === 'dl' ? 'dt' : 'li', mdocText(words));
    else if (name === 'El') this.html.push(`</${this.#lists.pop()}>`);
    else if (/^[BIR]{2}$/.test(name)) this.#addText(words.join(''));
    else if (/^(?:S[BMY]|UR|MT)$/.test(name)) this.#addText(words.join(' '));
    else if (/^(?:UE|ME|YS)$/.test(name)) this.#addText(first, true);
    else if (name === 'OP') this.#addText(`[${words.join(' ')}]`);
    else if (name === 'MR') this.#addText(`${first}(${second})${words.slice(2).join('')}`);
    else if (name === 'Nm' && (first === '' || delimiter.test(first)))
      this.#addText(mdocText([this.#name, ...words]));
    else if (/^[A-Z]/.test(name)) this.#addText(mdocText(name.length === 2 ? [name, ...words] : words));
    this.html.push(...displayBreak);
    if (name === 'Nm') this.#name ||= first;
    // The lines that describe the columns of a table end with a full stop.
    if (name === 'TS') this.#skipTo = /\.\s*$/;
  }

  #addIndented(mark: string): void {
    const number = /^\W?(\d{1,3})\W?$/.exec(mark)?.[1];
    if (number !== undefined) this.html.push(`<ol start="${number}"><li>`);
    else if (/^[-*•o·]?$/.test(mark)) this.html.push(mark === '' ? '<p>' : '<li>');
    else this.#start('dt', mark);
  }

  #addList(kind: string): void {
    const tag = /^-(?:bullet|column|dash|hyphen|item)/.test(kind) ? 'ul' : kind === '-enum' ? 'ol' : 'dl';
    this.#lists.push(tag);
    this.html.push(`<${tag}>`);
  }

  /** Also ends a block of code that was left open. */
  #start(tag: string, text: string): void {
    this.html.push('</pre>', tag === 'li' ? '<li>' : '');
    if (tag !== 'li') this.#tag = tag;
    this.#addText(text);
  }

  #addText(text: string, isTight = this.#isTight): void {
    if (text === '') return;
    const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const tag = this.#tag;
    if (isTight) this.html.push(`${this.html.pop() ?? ''}${html.replaceAll(' ', '')}`);
    else this.html.push(tag === undefined ? html : `<${tag}>${html}</${tag}>`);
    this.#tag = undefined;
  }

  /** The arguments of a macro. One in quotes may hold spaces; two quotes within it are one. */
  #words(rest: string): string[] {
    const words = rest.replace(/(?<!\\)\\".*$/, '').match(/"(?:[^"]|"")*"?|(?:\\.|[^\s\\])+/g) ?? [];
    return words.map((word) => this.#plain(word.replace(/^"(.*?)"?$/, '$1').replaceAll('""', '"')));
  }

  #plain(text: string): string {
    return text.replace(escapeSequence, (_, long, pair, one, _comment, char: string | undefined) => {
      const name: string = long ?? pair ?? one ?? '';
      if (/^u[\dA-F]{4}$/.test(name)) return String.fromCodePoint(Number.parseInt(name.slice(1), 16));
      if (char === undefined) return specialCharacters.get(name) ?? this.#strings.get(name) ?? '';
      return char === 'e' ? '\\' : /[-'`.\\]/.test(char) ? char : /[ ~0]/.test(char) ? ' ' : '';
    });
  }
}

const delimiter = /^[.,:;)\]?!]$/;

/** A line of mdoc(7), where macros and words are mixed: `Op Fl a Ar file` is `[-a file]`. */
function mdocText(words: readonly string[]): string {
  let [text, closing, macro] = ['', '', ''];
  const end = 1 + words.findLastIndex((word) => !delimiter.test(word));
  for (const [at, word] of words.entries()) {
    const [open, close = ''] = enclosures.get(word) ?? [];
    if (open === ' ') text += close;
    else if (open !== undefined) {
      text += ` ${open}\0`;
      closing = close + closing;
    } else if (mdocMacro.test(word)) {
      macro = word;
      if (word === 'Fl' && /^(?:[A-Z][a-z]|\W)?$/.test(words[at + 1] ?? '')) text += ' -\0';
      if (word === 'Ns') text += '\0';
      else if (word === 'Nd' || word === 'Ta') text += ' -';
    } else if (delimiter.test(word)) {
      // Delimiters are outside an enclosure only at the end of the line.
      text += at < end ? word : closing + word;
      if (at >= end) closing = '';
    } else if (macro === 'Xr' && words[at - 2] === 'Xr') text += `(${word})`;
    else text += ` ${macro === 'Fl' && word !== '|' ? '-' : ''}${word}${macro === 'Pf' ? '\0' : ''}`;
  }
  // A NUL marks a place without a following space.
  return (text + closing).replace(/\0 ?/g, '').trim();
}
