{{- define "gpugate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "gpugate.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "gpugate.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "gpugate.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gpugate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gpugate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: webhook
{{- end -}}

{{- /* Without versions: a new chart alone is no reason to restart. */ -}}
{{- define "gpugate.podLabels" -}}
{{- $own := printf "%s\napp.kubernetes.io/part-of: gpugate" (include "gpugate.selectorLabels" .) -}}
{{- include "gpugate.mergedLabels" (dict "own" $own "added" (list .Values.podLabels .Values.commonLabels)) -}}
{{- end -}}

{{- define "gpugate.labels" -}}
{{- include "gpugate.labelsOf" (dict "root" .) -}}
{{- end -}}

{{- /* Of an object with labels beside those of every other: root, component, added. */ -}}
{{- define "gpugate.labelsOf" -}}
{{- $own := include "gpugate.ownLabels" .root -}}
{{- with .component -}}
{{- $own = printf "%s\napp.kubernetes.io/component: %s" $own . -}}
{{- end -}}
{{- include "gpugate.mergedLabels" (dict "own" $own "added" (list .added .root.Values.commonLabels)) -}}
{{- end -}}

{{- /* The chart's own labels, as YAML, and those that were added, a list of maps. No key stands twice: the own one wins, then the earlier map's. */ -}}
{{- define "gpugate.mergedLabels" -}}
{{ .own }}
{{- $taken := fromYaml .own -}}
{{- range .added }}
{{- range $key, $value := . }}
{{- if not (hasKey $taken $key) }}
{{- $_ := set $taken $key $value }}
{{ toYaml (dict $key $value) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "gpugate.ownLabels" -}}
app.kubernetes.io/name: {{ include "gpugate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: gpugate
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "gpugate.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "gpugate.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "gpugate.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A quantity such as 384Mi or 100m as a number, of bytes or cores. */ -}}
{{- define "gpugate.amount" -}}
{{- $units := dict "" 1.0 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 -}}
{{- $text := toString . -}}
{{- mulf (regexFind "^[0-9.]+" $text | float64) (get $units (regexFind "[A-Za-z]*$" $text)) -}}
{{- end -}}

{{- /* MiB for Node's heap: what it doesn't know of (connections, buffers, Node itself) stays below the limit of the container. */ -}}
{{- define "gpugate.heapMiB" -}}
{{- divf (mulf 0.6 (include "gpugate.amount" .Values.resources.limits.memory | float64)) 1048576.0 | floor | int -}}
{{- end -}}

{{- /* Of gpugate's own and of cert-manager, each has one: where the source changes, neither would take up what the other wrote. */ -}}
{{- define "gpugate.certificateSecret" -}}
{{- if eq .Values.certificates.source "secret" -}}
{{- required "certificates.secret.name: give the name of the Secret, since certificates.source is secret" .Values.certificates.secret.name -}}
{{- else if eq .Values.certificates.source "cert-manager" -}}
{{- printf "%s-tls" (include "gpugate.fullname" .) -}}
{{- else -}}
{{- printf "%s-certificates" (include "gpugate.fullname" .) -}}
{{- end -}}
{{- end -}}

{{- /* Name, labels and annotations of a hook: hook, name, weight, root. */ -}}
{{- define "gpugate.hookMetadata" -}}
name: {{ .name }}
labels:
  {{- include "gpugate.labels" .root | nindent 2 }}
annotations:
  helm.sh/hook: {{ .hook }}
  helm.sh/hook-weight: {{ .weight | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  # Helm prints what a verb said when it fails.
  helm.sh/hook-output-log-policy: hook-failed
{{- end -}}

{{- /* The spec of a pod that runs a verb of gpugate once: account, args, root. */ -}}
{{- define "gpugate.verbPod" -}}
{{- $root := .root -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: true
enableServiceLinks: false
restartPolicy: Never
securityContext:
  {{- toYaml $root.Values.podSecurityContext | nindent 2 }}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: gpugate
    image: {{ include "gpugate.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args:
      {{- range .args }}
      - {{ . | quote }}
      {{- end }}
    resources:
      requests:
        cpu: 50m
        memory: 96Mi
      limits:
        memory: 256Mi
    securityContext:
      {{- toYaml $root.Values.containerSecurityContext | nindent 6 }}
{{- end -}}
