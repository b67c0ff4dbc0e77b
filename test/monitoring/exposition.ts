/** What one metric name stands for in an exposition. */
export interface Exported {
  readonly help: string;
  readonly type: string;
  /** Labels of its samples, each with the values that occur. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/**
 * Reads Prometheus' text format: every name that a query can use, so `_bucket`, `_sum` and `_count` of a histogram are names
 * of their own. A metric without samples is there too, without labels.
 */
export function readExposition(text: string): ReadonlyMap<string, Exported> {
  const helps = new Map<string, string>();
  const found = new Map<string, { help: string; type: string; labels: Map<string, Set<string>> }>();
  const add = (name: string, help: string, type: string) => {
    const exported = found.get(name) ?? { help, type, labels: new Map<string, Set<string>>() };
    found.set(name, exported);
    return exported;
  };
  for (const line of text.split('\n')) {
    const [, keyword, described = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') helps.set(described, rest);
    if (keyword === 'TYPE') {
      const names = rest === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => described + end) : [described];
      for (const name of names) add(name, helps.get(described) ?? '', rest);
    }
    const [, name, labels = ''] = SAMPLE.exec(line) ?? [];
    if (name === undefined || line.startsWith('#')) continue;
    const exported = add(name, '', 'untyped');
    for (const [, label = '', value = ''] of labels.matchAll(LABEL)) {
      exported.labels.set(label, (exported.labels.get(label) ?? new Set()).add(value));
    }
  }
  return found;
}
