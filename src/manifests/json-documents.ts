/**
 * Where the documents of a text begin that are JSON and stand one behind the other, `{...}\n{...}`: kubectl takes them, YAML
 * does not. Undefined where the text is not that.
 */
export function jsonDocuments(text: string): readonly number[] | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const starts: number[] = [];
  let depth = 0;
  let isQuoted = false;
  for (const { 0: token, index } of text.matchAll(/\\.|["{}]/gs)) {
    if (token === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (token === '{' && depth === 0) starts.push(index);
    if (token === '{') depth += 1;
    if (token === '}') depth -= 1;
  }
  const areJson = () => starts.every((start, index) => isJson(text.slice(start, starts[index + 1])));
  return starts.length > 1 && areJson() ? starts : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
