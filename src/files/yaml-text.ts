import { type CreateNodeOptions, Document, type DocumentOptions, Scalar, type ToStringOptions, visit } from 'yaml';

/**
 * What YAML 1.1, which kubectl reads, takes for a boolean or a number, and YAML 1.2 for a text: `yes` (yaml.org/type/bool.html),
 * `1_000`, `0b11` (yaml.org/type/int.html), `12:30`.
 */
const OTHER_FOR_KUBECTL = /^(?:y|n|yes|no|on|off|[-+]?\d[\d.]*[_:][\d_.:]*|[-+]?0b[01_]+|[-+]?0x[\da-f_]*_[\da-f_]*)$/i;

/** A value as YAML that means the same in 1.1 and 1.2. */
export function yamlText(value: unknown, options: DocumentOptions & CreateNodeOptions & ToStringOptions = {}): string {
  const document = new Document(value, options);
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && OTHER_FOR_KUBECTL.test(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString(options);
}
