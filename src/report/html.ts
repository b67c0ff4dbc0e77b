import { CODES } from '../admission/findings.ts';
import type { Audit, AuditedFinding, AuditedObject } from '../audit/result.ts';
import { verdict } from './audit-text.ts';
import { SCRIPT, STYLE } from './html-assets.ts';

/**
 * An audit as one HTML file: no network, nothing beside it, readable without its script. What comes from the cluster is text and
 * never markup, and the page's own policy lets nothing be loaded.
 */
export function asHtml(audit: Audit): string {
  const rows = audit.objects.flatMap((object) => object.findings.map((finding) => row(object, finding)));
  const refused = audit.objects.filter(({ findings }) => findings.some(({ level }) => level === 'error')).length;
  const scope = audit.namespace === undefined ? 'all namespaces' : `namespace ${audit.namespace}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>gpugate audit</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>gpugate audit</h1>
<p>${escaped(verdict(audit))}</p>
<p class="dim">${escaped(scope)}, ${escaped(audit.time.slice(0, 19).replace('T', ' '))} UTC, gpugate ${escaped(audit.version)}</p>
</header>
<main>
<ul class="tiles">
${tile('pods judged', audit.judged.pods)}
${tile('workloads', audit.judged.workloads)}
${tile('would be refused', refused, refused > 0 ? 'bad' : 'good')}
${tile('with warnings', audit.objects.length - refused, audit.objects.length > refused ? 'odd' : 'good')}
</ul>
${codeTable(audit)}
${findingsTable(rows)}
${notices(audit)}
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function tile(name: string, count: number, tone = ''): string {
  return `<li class="${tone}"><b>${count}</b> ${escaped(name)}</li>`;
}

function codeTable({ codes }: Audit): string {
  if (codes.length === 0) return '';
  const rows = codes.map(
    ({ code, title, errors, warnings, pods }) =>
      `<tr><td><button type="button" data-code="${escaped(code)}">${escaped(code)}</button></td><td>${escaped(title)}</td><td class="n">${errors}</td><td class="n">${warnings}</td><td class="n">${pods}</td></tr>`,
  );
  return `<h2>By code</h2>
<table class="codes">
<thead><tr><th scope="col">code</th><th scope="col">what</th><th scope="col" class="n">refused</th><th scope="col" class="n">warned</th><th scope="col" class="n">pods</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
}

const COLUMNS = ['', 'code', 'namespace', 'object', 'pods', 'what and what to do'] as const;

function findingsTable(rows: readonly string[]): string {
  if (rows.length === 0) return '<p class="good">Nothing to say: all of it is as the policies want it.</p>';
  const heads = COLUMNS.map(
    (name, index) =>
      `<th scope="col"${name === 'pods' ? ' class="n"' : ''}><button type="button" data-sort="${index}">${escaped(name || 'level')}</button></th>`,
  );
  return `<h2>By owner</h2>
<p class="filter"><label>Filter <input type="search" id="filter" placeholder="namespace, name, code or text"></label>
<label><input type="checkbox" id="refused"> only what would be refused</label> <output id="shown">${rows.length} of ${rows.length}</output></p>
<table id="findings">
<thead><tr>${heads.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
}

function row(object: AuditedObject, finding: AuditedFinding): string {
  const { kind, namespace = '', name, policy } = object;
  const { code, level, message, fix, field, container, pods, examples } = finding;
  const tone = level === 'error' ? 'bad' : 'odd';
  const more = pods > examples.length ? ` and ${pods - examples.length} more` : '';
  const which = pods > 0 && kind !== 'Pod' ? `<small>in ${escaped(examples.join(', ') + more)}</small>` : '';
  const where = container === undefined ? '' : `container <code>${escaped(container)}</code>: `;
  return `<tr class="${tone}"><td>${level === 'error' ? 'refused' : 'warned'}</td><td><abbr title="${escaped(CODES[code])}">${code}</abbr></td><td>${escaped(namespace)}</td><td>${escaped(kind)} <b>${escaped(name)}</b>${policy === undefined ? '' : `<small>policy ${escaped(policy)}</small>`}</td><td class="n">${pods}</td><td>${where}${escaped(message)} <em>${escaped(fix)}</em><small><code>${escaped(field)}</code></small>${which}</td></tr>`;
}

function notices({ notices: all }: Audit): string {
  if (all.length === 0) return '';
  return `<h2>Nodes</h2>\n<ul>\n${all.map(({ message }) => `<li>${escaped(message)}</li>`).join('\n')}\n</ul>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
