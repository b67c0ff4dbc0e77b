/** Rows with columns two spaces apart, as kubectl prints them; the last cell is as long as it likes. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.slice(0, -1).entries())
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 2))
        .join('')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}
