import type { NamespaceExplanation } from '../explain/namespace.ts';
import type { PolicyProblem } from '../policy/policy.ts';
import { bold, dim, mark, type Style } from './marks.ts';
import { table } from './table.ts';

/** Which policy applies to a namespace, from which label, and where each setting comes from. */
export function namespaceText(explanation: NamespaceExplanation, style: Style): string {
  const { namespace, governed, policy, chosenBy, excluded, settings, problems, warnings } = explanation;
  const head = governed
    ? `namespace ${namespace} is governed by ${policy === undefined ? 'its own labels' : `the policy "${policy}"`}: ${chosenBy}.`
    : `namespace ${namespace} has no policy (${chosenBy}): only the arithmetic of its GPU requests is judged.`;
  const lines = [bold(head, style)];
  if (excluded)
    lines.push(`${mark('warning', style)} The webhooks leave this namespace out, so none of its pods is judged.`);
  const told = (how: 'problem' | 'warning') => (problem: PolicyProblem) =>
    `${mark(how, style)} ${problemText(problem)}`;
  lines.push(...problems.map(told('problem')), ...warnings.map(told('warning')));
  if (problems.length > 0)
    lines.push('  Until this is corrected, every GPU pod of the namespace is refused (in mode enforce).');
  const rows = settings.map(({ name, value, source }) => [`  ${name}`, value, source]);
  const settingsTable = rows.length === 0 ? '' : `\n${table([['  SETTING', 'VALUE', 'SOURCE'], ...rows])}`;
  const next = dim(`next: kubectl get namespace ${namespace} --show-labels`, style);
  return `${lines.join('\n')}\n${settingsTable}${governed ? '' : `${next}\n`}`;
}

function problemText({ code, where, value, message, fix }: PolicyProblem): string {
  return `${code} ${where}${value === undefined ? '' : ` is "${value}", which`} ${message}. ${fix}`;
}
