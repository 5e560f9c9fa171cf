import { styleText } from 'node:util';
import { orUndefined } from '../../runtime/src/pure/or-undefined.ts';
import { printableLines } from '../../runtime/src/pure/text.ts';

/** Colors follow the terminal and `NO_COLOR`. */
const colored = (format: Parameters<typeof styleText>[0], text: string) =>
  styleText(format, text, { stream: process.stdout });

/** A JSON line of the log as a person reads it. */
export function terminalLine(json: string): string {
  // Not JSON, for example after the redaction of a secret.
  const line = orUndefined(() => JSON.parse(json));
  if (line === undefined) return printableLines(json);
  const { level, time, msg, err, ...fields } = line;
  const clock = colored('dim', new Date(time).toTimeString().slice(0, 8));
  const text =
    msg === 'request' ? requestText(fields) : `${printableLines(String(msg ?? ''))}${fieldsText(fields)}`;
  const stack =
    err === undefined ? '' : `\n${printableLines(String(err.stack ?? err.message)).replaceAll(/^/gm, '  ')}`;
  return `${clock} ${levelText(level)}${text}${stack}\n`;
}

function levelText(level: number): string {
  if (level >= 50) return `${colored('red', 'error')} `;
  if (level >= 40) return `${colored('yellow', 'warning')} `;
  return level >= 30 ? '' : `${colored('dim', 'debug')} `;
}

function requestText({ trace_id, method, route, status, ms, ...fields }: Record<string, unknown>): string {
  const color = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green';
  const text = `${printableLines(`${method} ${route}`)} ${colored(color, String(status))} ${ms} ms`;
  return `${text}${fieldsText(Number(status) >= 400 ? { ...fields, trace_id } : fields)}`;
}

function fieldsText(fields: Record<string, unknown>): string {
  const texts = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === 'string' && /^[\w:/.@-]+$/.test(value) ? value : JSON.stringify(value);
    return colored('dim', ` ${printableLines(`${name}=${text}`)}`);
  });
  return texts.join('');
}
