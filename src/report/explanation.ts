import { reasonsOf } from '../explain/explain.ts';
import { type Explanation, LAYERS, type Layer } from '../explain/result.ts';
import { oneLine } from './denial.ts';
import { bold, dim, mark, type Style } from './marks.ts';

const WIDTH = Math.max(...LAYERS.map((name) => name.length)) + 2;
const INDENT = ' '.repeat(WIDTH + 4);

/** An explanation as people read it: one line of what it comes to, then the layers. */
export function explanationText(explanation: Explanation, style: Style): string {
  const layers = explanation.layers.map((layer) => layerText(layer, style));
  return `${bold(headline(explanation), style)}\n\n${layers.join('')}`;
}

/** `pod/train-0 in namespace team-a is Pending, for 1 reason.` */
export function headline(explanation: Explanation): string {
  const { subject, namespace, state, node, notAboutGpus, note, byItself } = explanation;
  const what = `${subject} in namespace ${namespace}`;
  const reasons = reasonsOf(explanation);
  const kept = reasons.length > 0;
  const count = reasons.length === 1 ? '1 reason' : `${reasons.length} reasons`;
  const gpus = notAboutGpus ? ' It is not a GPU problem.' : '';
  if (!kept && note !== undefined) return `${what} ${note}`;
  switch (state) {
    case 'idle':
      return `${what} wants no pod.`;
    case 'running':
      return kept
        ? `${what} is on node ${node}, and not all of its containers run, for ${count}.${gpus}`
        : `${what} runs on ${node}. Nothing keeps it from running.`;
    case 'succeeded':
      return `${what} has ended well.`;
    case 'ending':
      return `${what} is being deleted.`;
    case 'failed':
      return kept
        ? `${what} has failed: it was not admitted by its node.`
        : `${what} has failed by itself: kubectl logs tells more. It is not Pending.`;
    case 'refused':
      return kept
        ? `${what}: the API server lets no further pod be made.${gpus}`
        : `${what}: a pod is missing, and no event says why: its controller has not tried yet, or the event is gone.`;
    case 'starting':
      if (!kept) return `${what} is on node ${node} and is starting.`;
      return byItself
        ? `${what} names node ${node} itself, past the scheduler: ${count} ${reasons.length === 1 ? 'stands' : 'stand'} against it.${gpus}`
        : `${what} is on node ${node} and can't start, for ${count}.${gpus}`;
    case 'gated':
      return `${what} is Pending: it is gated.${gpus}`;
    case 'waiting':
      return `${what} is Pending, for ${count}.${gpus}`;
  }
}

function layerText({ name, mark: how, seen, reasons, next }: Layer, style: Style): string {
  const [first = '', ...rest] = seen.map(oneLine);
  const lines = [`${mark(how, style)} ${name.padEnd(WIDTH)}  ${first}`, ...rest.map((line) => INDENT + line)];
  for (const { text, next: command } of reasons) {
    lines.push(`${INDENT}${mark('problem', style)} ${oneLine(text)}`, `${INDENT}  ${dim(`next: ${command}`, style)}`);
  }
  if (reasons.length === 0 && how !== 'ok' && next !== undefined) lines.push(`${INDENT}${dim(`next: ${next}`, style)}`);
  return lines.map((line) => `${line}\n`).join('');
}
