/** What a reader of YAML says of a text. */
interface Said {
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** A key as it stands in YAML or JSON, with its quotes. */
const KEY = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|[^\s,{}[\]][^\n,{}[\]]*?(?=\s*:(?:\s|$))/my;

/** The message, which names the key where it is of one that stands twice. */
export function yamlMistake({ message, pos }: Said, text: string): string {
  if (message !== 'Map keys must be unique') return message;
  KEY.lastIndex = pos[0];
  const key = KEY.exec(text)?.[0].replace(/^(["'])(.*)\1$/, '$2');
  return key === undefined ? message : `key "${key}" is already set in this map`;
}
