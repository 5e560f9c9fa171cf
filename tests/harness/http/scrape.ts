import assert from 'node:assert/strict';
import { eventually } from '../service/eventually.ts';
import type { Service } from '../service/service.ts';

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** One response of `/metrics`, parsed like Prometheus does. A line that Prometheus would reject fails. */
export class Scrape {
  readonly text: string;
  /** Kinds by name: counter, gauge, histogram or summary. */
  readonly kinds = new Map<string, string>();
  readonly samples: Sample[] = [];

  constructor(text: string) {
    this.text = text;
    for (const line of text.split('\n')) this.#read(line);
  }

  get names(): string[] {
    return [...this.kinds.keys()];
  }

  find(name: string, labels: Labels = {}): Sample[] {
    return this.samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  }

  /** The sum of the samples with these labels. Fails if there are none. */
  value(name: string, labels: Labels = {}): number {
    const found = this.find(name, labels);
    assert.ok(found.length > 0, `${name} ${JSON.stringify(labels)} is not among:\n${this.text}`);
    return found.reduce((sum, { value }) => sum + value, 0);
  }

  #read(line: string): void {
    const kind = /^# TYPE ([a-z_:][\w:]*) (counter|gauge|histogram|summary)$/.exec(line);
    if (kind !== null) {
      assert.ok(!this.kinds.has(kind[1]!), `${kind[1]} occurs twice`);
      this.kinds.set(kind[1]!, kind[2]!);
    }
    if (line === '' || line.startsWith('# ')) return;
    const [, name, labels = '', value] =
      /^([a-z_]\w*)(?:\{((?:\w+="(?:[^"\\\n]|\\.)*",?)*)\})? (-?[\d.]+(?:e[+-]?\d+)?|Nan|NaN|[+-]Inf)$/.exec(
        line,
      ) ?? [];
    assert.ok(name !== undefined, `not in the Prometheus format: ${line}`);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text]);
    this.samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
}

/** The metrics address in the service's `ready` line; undefined if metrics are off. */
export function readMetricsUrl({ output }: Pick<Service, 'output'>): string | undefined {
  const ready = output.find((line) => line.includes('"msg":"ready"'));
  assert.ok(ready);
  return JSON.parse(ready).metrics;
}

export async function scrape(service: Pick<Service, 'output'>): Promise<Scrape> {
  const url = readMetricsUrl(service);
  assert.ok(url, 'metrics are served');
  const response = await fetch(url);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return new Scrape(await response.text());
}

/** Scrapes until the condition holds. */
export function untilScraped(
  service: Pick<Service, 'output'>,
  condition: (scraped: Scrape) => boolean,
  withinMs?: number,
): Promise<Scrape> {
  return eventually(() => scrape(service), condition, withinMs);
}
