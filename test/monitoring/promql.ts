import { parser } from '@prometheus-io/lezer-promql';

/** What one query asks for. */
export interface Query {
  /** Each selector: the metric, and its matchers. */
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `without`, `on` and `ignoring`. */
  readonly grouped: readonly string[];
}

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

/** Reads a PromQL expression by Prometheus' own grammar. Throws an Error that shows where it is wrong. */
export function readQuery(expression: string): Query {
  const tree = parser.parse(expression);
  const selectors: { metric: string; matchers: { label: string; operator: string; value: string }[] }[] = [];
  const grouped: string[] = [];
  let inGroup = false;
  tree.iterate({
    enter({ type, from, to, node }) {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`not PromQL: ${expression.slice(0, from)} >>> ${expression.slice(from)}`);
      if (type.name === 'GroupingLabels') inGroup = true;
      if (type.name === 'LabelName' && inGroup) grouped.push(text);
      if (type.name === 'VectorSelector') {
        selectors.push({ metric: textOf(expression, node.getChild('Identifier')), matchers: [] });
      }
      if (type.name === 'UnquotedLabelMatcher') {
        selectors.at(-1)?.matchers.push({
          label: textOf(expression, node.getChild('LabelName')),
          operator: textOf(expression, node.getChild('MatchOp')),
          value: textOf(expression, node.getChild('StringLiteral')).slice(1, -1),
        });
      }
    },
    leave({ type }) {
      if (type.name === 'GroupingLabels') inGroup = false;
    },
  });
  return { selectors, grouped };
}

function textOf(expression: string, node: { readonly from: number; readonly to: number } | null): string {
  return node ? expression.slice(node.from, node.to) : '';
}
