/** The look of the page: the reader's own colours, light or dark. */
export const STYLE = `
:root { color-scheme: light dark; --bg: #fff; --fg: #1b1f24; --dim: #59636e; --line: #d1d9e0; --bad: #cf222e; --odd: #8a5a00; --good: #1a7f37; --head: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #0d1117; --fg: #e6edf3; --dim: #9198a1; --line: #30363d; --bad: #ff7b72; --odd: #e3b341; --good: #3fb950; --head: #161b22; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 80rem; background: var(--bg); color: var(--fg); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; } h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; }
header p { margin: .25rem 0; } .dim, small { color: var(--dim); }
small { display: block; overflow-wrap: anywhere; } em { font-style: normal; color: var(--good); }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; padding: 0; margin: 1.25rem 0; list-style: none; }
.tiles li { min-width: 9rem; padding: .6rem 1rem; border: 1px solid var(--line); border-radius: .5rem; color: var(--dim); }
.tiles b { display: block; font-size: 1.6rem; line-height: 1.2; color: var(--fg); }
.tiles .bad b, tr.bad td:first-child { color: var(--bad); } .tiles .odd b, tr.odd td:first-child { color: var(--odd); } .good, .tiles .good b { color: var(--good); }
table { width: 100%; border-collapse: collapse; } th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { background: var(--head); font-weight: 600; } .n { text-align: right; font-variant-numeric: tabular-nums; }
tr td:first-child { white-space: nowrap; font-weight: 600; } td:nth-child(4) { overflow-wrap: anywhere; } abbr { text-decoration: none; }
button { padding: 0; border: 0; background: none; color: inherit; font: inherit; cursor: pointer; } th[aria-sort=ascending] button::after { content: " \\2191"; } th[aria-sort=descending] button::after { content: " \\2193"; }
button:focus-visible, input:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.filter { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; } input[type=search] { min-width: 18rem; padding: .3rem .5rem; border: 1px solid var(--line); border-radius: .3rem; background: var(--bg); color: inherit; font: inherit; }
output { color: var(--dim); }
@media (max-width: 45rem) { body { padding: 1rem; } table { display: block; overflow-x: auto; } }
@media print { .filter { display: none; } }
`;

/** Filters and sorts the table of findings. Without it the table stands as it is. */
export const SCRIPT = `
(() => {
  const table = document.getElementById('findings');
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const filter = document.getElementById('filter');
  const refused = document.getElementById('refused');
  const show = () => {
    const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) || (refused.checked && !row.classList.contains('bad'));
      if (!row.hidden) shown += 1;
    }
    document.getElementById('shown').value = shown + ' of ' + rows.length;
  };
  filter.addEventListener('input', show);
  refused.addEventListener('change', show);
  for (const button of document.querySelectorAll('[data-code]')) {
    button.addEventListener('click', () => { filter.value = button.dataset.code; show(); table.scrollIntoView(); });
  }
  for (const button of table.querySelectorAll('[data-sort]')) {
    button.addEventListener('click', () => {
      const head = button.closest('th');
      const down = head.getAttribute('aria-sort') === 'ascending';
      for (const other of table.querySelectorAll('th')) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const column = Number(button.dataset.sort);
      const of = (row) => row.cells[column].textContent;
      rows.sort((a, b) => of(a).localeCompare(of(b), 'en', { numeric: true }) * (down ? -1 : 1));
      body.append(...rows);
    });
  }
})();
`;
