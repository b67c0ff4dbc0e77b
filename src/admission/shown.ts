/** A JSON value as people would write it, cut to what a message can hold. */
export function shown(value: unknown, longest = 40): string {
  const text = typeof value === 'string' ? value : (yamlOnly(value) ?? JSON.stringify(value) ?? 'nothing');
  return cut(text.replace(/[\p{Cc}\p{Cf}]/gu, ' '), longest);
}

/** A number of YAML that JSON has no word for, and makes null of. */
function yamlOnly(value: unknown): string | undefined {
  if (typeof value !== 'number' || Number.isFinite(value)) return undefined;
  return Number.isNaN(value) ? '.nan' : value < 0 ? '-.inf' : '.inf';
}

/** The beginning of a text that may be megabytes long. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text;
}

/** As `shown`, with text in quotes, so that an empty or blank one is seen. */
export function quoted(value: unknown): string {
  return typeof value === 'string' ? `"${shown(value)}"` : shown(value);
}
