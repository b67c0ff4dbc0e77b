import type { Place } from './tree.ts';

/** Makes the script of a shell that completes a command line with these places. It needs nothing but the shell. */
export const COMPLETION_SCRIPTS: Readonly<Record<'bash' | 'zsh' | 'fish', (places: readonly Place[]) => string>> = {
  bash,
  zsh,
  fish,
};

/** `' rules' | 'rules explain'`: how the words typed so far and the next one lead to another place. */
function steps(places: readonly Place[]): string {
  const words = places.flatMap(({ words }) => (words === '' ? [] : [words]));
  return words.map((path) => `'${path.includes(' ') ? path : ` ${path}`}'`).join(' | ');
}

/** `'test --output' | 'test -o'`: the place and an option that takes a value, with the values that are known. */
function optionsWithValue(
  places: readonly Place[],
): readonly { readonly pattern: string; readonly values: readonly string[] }[] {
  return places.flatMap(({ words, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ name, short, values }) => ({
        pattern: [name, ...(short === undefined ? [] : [short])].map((flag) => `'${words} ${flag}'`).join(' | '),
        values,
      })),
  );
}

const flagsOf = ({ options }: Place) =>
  options.flatMap(({ name, short }) => (short === undefined ? [name] : [short, name]));

function bash(places: readonly Place[]): string {
  const values = optionsWithValue(places).map(({ pattern, values }) =>
    // Without a known value nothing is offered, and readline falls back to files.
    values.length > 0
      ? `    ${pattern}) COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$cur")); return ;;`
      : `    ${pattern}) return ;;`,
  );
  const next = places.map((place) => {
    const names = [...place.commands.map(({ name }) => name), ...place.values];
    return `    '${place.words}') words='${names.join(' ')}'; flags='${flagsOf(place).join(' ')}' ;;`;
  });
  return `# bash completion for gpugate, to be sourced or kept where bash-completion looks for it.
_gpugate() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at='' words='' flags='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${steps(places)}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $prev" in
${values.join('\n')}
  esac
  case "$at" in
${next.join('\n')}
  esac
  [[ $cur == -* ]] && words=$flags
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _gpugate gpugate
`;
}

function zsh(places: readonly Place[]): string {
  const described = (items: readonly { readonly name: string; readonly about: string }[]) =>
    items.map(({ name, about }) => `'${name}:${about}'`).join(' ');
  const values = optionsWithValue(places).map(({ pattern, values }) =>
    values.length > 0
      ? `    ${pattern}) compadd -- ${values.join(' ')}; return ;;`
      : `    ${pattern}) _files; return ;;`,
  );
  const next = places.map((place) => {
    const flags = place.options.flatMap(({ name, short, about }) => [
      ...(short === undefined ? [] : [{ name: short, about }]),
      { name, about },
    ]);
    const names = described([...place.commands, ...place.values.map((name) => ({ name, about: '' }))]);
    return `    '${place.words}') names=(${names}); flags=(${described(flags)}); files=${place.takesFiles ? 1 : 0} ;;`;
  });
  return `#compdef gpugate
# zsh completion for gpugate, to be kept as _gpugate in a folder of fpath, or sourced after compinit.
_gpugate() {
  local at='' word files=0
  local -a names flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${steps(places)}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at $words[CURRENT-1]" in
${values.join('\n')}
  esac
  case "$at" in
${next.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe -o option flags
    return
  fi
  (( $#names )) && _describe command names
  (( files )) && _files
}
if [[ $funcstack[1] == _gpugate ]]; then _gpugate "$@"; else compdef _gpugate gpugate; fi
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ words, commands, options, values, takesFiles }) => {
    const here = `complete -c gpugate -n '__gpugate_at "${words}"'`;
    return [
      ...(takesFiles ? [] : [`${here} -f`]),
      ...commands.map(({ name, about }) => `${here} -a ${name} -d '${about}'`),
      ...values.map((value) => `${here} -a ${value}`),
      ...options.map(({ name, short, about, takesValue, values: known }) => {
        const flag = `${short === undefined ? '' : ` -s ${short.slice(1)}`} -l ${name.slice(2)}`;
        const value = known.length > 0 ? ` -x -a '${known.join(' ')}'` : takesValue ? ' -r -F' : '';
        return `${here}${flag}${value} -d '${about}'`;
      }),
    ];
  });
  return `# fish completion for gpugate, to be kept as gpugate.fish in a folder of completions, or sourced.
function __gpugate_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${steps(places).replaceAll(' | ', ' ')}
                set at (string trim -- "$at $word")
        end
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}
