import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A rule of Prometheus that fires. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A query, and where it stands. */
export interface Placed {
  readonly place: string;
  readonly expr: string;
}

const FILES = new URL('../../deploy/chart/gpugate/files/', import.meta.url);

export const ALERTS_FILE = new URL('alerts.yaml', FILES);

export function alerts(): readonly Alert[] {
  const { groups } = parse(readFileSync(ALERTS_FILE, 'utf8')) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** What of Grafana's dashboard a test looks at. */
export interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly type: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(new URL('dashboard.json', FILES), 'utf8'));
}

/** Every query of the alerts and the dashboard. Grafana's own variables are filled in, as Grafana does before it asks. */
export function queries(): readonly Placed[] {
  const panels = dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      place: `panel "${title}"`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    })),
  );
  return [...alerts().map(({ alert, expr }) => ({ place: `alert ${alert}`, expr })), ...panels];
}
