import { FLAGS } from '../src/commands/flags.ts';

/** docs/flags.md */
export function flagsPage(): string {
  const rows = Object.values(FLAGS).map(
    ({ long, argument, variable, about, default: byDefault }) =>
      `| \`${long} ${argument}\` | \`${variable}\` | ${byDefault === undefined ? '' : `\`${byDefault}\``} | ${about} |`,
  );
  return `# Flags of \`gpugate serve\`

Made by \`npm run generate\` from src/commands/flags.ts. A flag wins over its variable, and an empty variable is none. The image sets \`GPUGATE_HOST\` to \`0.0.0.0\` and
\`GPUGATE_CERT_DIR\` to \`/certs\`; [values.md](values.md) says what the chart sets. A mistake ends the start with exit code 2 and one line for each.

| flag | variable | default | meaning |
| --- | --- | --- | --- |
${rows.join('\n')}

Two more have no variable: \`--welcome\` prints how to try it, and \`--no-welcome\` does not; without either it is printed beside \`--namespaces\`.
`;
}
