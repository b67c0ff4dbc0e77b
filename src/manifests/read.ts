import { Composer, type CST, type Document, isCollection, LineCounter, type Node, Parser, visit } from 'yaml';
import { asArray, asObject, type JsonObject } from '../admission/pod.ts';
import { yamlMistake } from '../files/yaml-mistake.ts';
import type { Notice } from '../report/result.ts';
import { jsonDocuments } from './json-documents.ts';
import { whyNoObject } from './no-object.ts';
import { aliased } from './nodes.ts';
import { placeOfObject } from './places.ts';

type Path = readonly (string | number)[];

/** Where an object stands in a text. */
export interface Source {
  /** As it is shown: the path that was given, or `<stdin>`. */
  readonly file: string;
  readonly text: string;
  readonly lines: LineCounter;
  readonly document: Document.Parsed;
  /** From the top of the document: empty, `['items', 0]`, or `['request', 'object']`. */
  readonly path: Path;
}

/** One Kubernetes object of a file. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: JsonObject;
  /** The recorded AdmissionReview that it stands in. */
  readonly review?: JsonObject;
  readonly source: Source;
}

/**
 * What stands in a file: objects, and what can't be read, or is none and clearly meant to be one. Documents of something else
 * are passed over.
 */
export type Read = { readonly manifest: Manifest } | { readonly unreadable: Notice };

/**
 * The Kubernetes objects of a text, one after the other, so that no more than one document is in memory: YAML of one or more
 * documents, or JSON, also one document behind the other; each an object, a List of them, or an AdmissionReview.
 */
export function* readManifests(file: string, text: string): Iterable<Read> {
  const lines = new LineCounter();
  const composer = new Composer({ merge: true, prettyErrors: false });
  for (const document of composer.compose(tokensOf(text, lines))) {
    const error = document.errors[0] ?? oddity(document as Document.Parsed);
    if (error) {
      yield { unreadable: mistake(file, text, lines, error) };
      continue;
    }
    let content: unknown;
    try {
      content = contentOf(document);
    } catch (thrown) {
      yield { unreadable: { file, message: (thrown as Error).message } }; // Too many aliases.
      continue;
    }
    const source = { file, text, lines, document: document as Document.Parsed, path: [] };
    yield* readsOf(content, source);
  }
}

function* tokensOf(text: string, lines: LineCounter): Iterable<CST.Token> {
  const starts = jsonDocuments(text) ?? [0];
  for (const [index, start] of starts.entries()) {
    const parser = new Parser(lines.addNewLine);
    parser.offset = index === 0 ? 0 : start;
    yield* parser.parse(text.slice(parser.offset, starts[index + 1]));
  }
}

function* readsOf(content: unknown, source: Source): Iterable<Read> {
  const why = whyNoObject(content);
  if (why !== undefined) {
    const { line, column } = placeOfObject(source) ?? {};
    yield { unreadable: { file: source.file, ...(line && column ? { line, column } : {}), message: why } };
    return;
  }
  const object = asObject(content);
  const { apiVersion, kind, items } = object ?? {};
  if (!object || typeof apiVersion !== 'string' || typeof kind !== 'string') return;
  if (kind.endsWith('List') && Array.isArray(items)) {
    // Items of a DeploymentList say neither kind nor version, as the API server writes them.
    const typed = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
    for (const [index, item] of asArray(items).entries()) {
      yield* readsOf({ ...typed, ...asObject(item) }, { ...source, path: [...source.path, 'items', index] });
    }
    return;
  }
  if (kind === 'AdmissionReview') {
    const reviewed = asObject(asObject(object.request)?.object) ?? {};
    const at = { ...source, path: [...source.path, 'request', 'object'] };
    yield { manifest: { ...typeOf(reviewed), object: reviewed, review: object, source: at } };
    return;
  }
  yield { manifest: { apiVersion, kind, object, source } };
}

function typeOf({ apiVersion, kind }: JsonObject): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion: String(apiVersion ?? ''), kind: String(kind ?? '') };
}

/**
 * What a document says, as JSON would say it: what stands at an anchor is a value of its own wherever an alias repeats it.
 * @throws Error where there are too many aliases, or where one stands within its own anchor.
 */
export function contentOf(document: Document): unknown {
  let shared = false;
  const onAnchor = (_value: unknown, aliases: number) => {
    shared ||= aliases > 0;
  };
  const content: unknown = document.toJS({ onAnchor });
  if (!shared) return content;
  try {
    return JSON.parse(JSON.stringify(content));
  } catch {
    throw new Error('an alias stands within its own anchor');
  }
}

/**
 * What is YAML and no JSON: a key that is a map itself, as `{{ .Values.gpu }}` is one to YAML, which no object of Kubernetes has;
 * and an alias that stands for something around it.
 */
function oddity(document: Document.Parsed): Mistake | undefined {
  let found: Mistake | undefined;
  const stop = (message: string, { range }: Node) => {
    const [start = 0, end = start] = range ?? [];
    found = { message, pos: [start, end] };
    return visit.BREAK;
  };
  visit(document, {
    Pair: (_, { key }) => (isCollection(key) ? stop('A key is a map or a list', key) : undefined),
    Alias(_, alias, path) {
      const isAround = path.some((node) => isCollection(node) && node.anchor === alias.source);
      // The name may be that of a nearer anchor too.
      if (!isAround || !path.includes(aliased(alias, document) as Node)) return undefined;
      return stop(`The alias *${alias.source} stands within its own anchor`, alias);
    },
  });
  return found;
}

interface Mistake {
  readonly message: string;
  readonly pos: [number, number];
}

function mistake(file: string, text: string, lines: LineCounter, { message, pos }: Mistake): Notice {
  const { line, col: column } = lines.linePos(pos[0]);
  const isTemplate = text.includes('{{');
  const hint = isTemplate ? '. It looks like a template of Helm: helm template CHART | gpugate review -' : '';
  return {
    file,
    line: Math.max(line, 1),
    column: Math.max(column, 1),
    message: `${yamlMistake({ message, pos }, text)}${hint}`,
  };
}
