{{- /* Seconds of a time such as 10s, 500ms, 90d or 0, as a number. */ -}}
{{- define "gpugate.seconds" -}}
{{- $units := dict "" 1.0 "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0 "d" 86400.0 -}}
{{- $text := toString . -}}
{{- mulf (regexFind "^[0-9.]+" $text | float64) (get $units (regexFind "[a-z]*$" $text)) -}}
{{- end -}}

{{- /* The value to use instead of each flag or variable of `gpugate serve` that the chart sets, by flag. */ -}}
{{- define "gpugate.settings" -}}
host: host
port: ports.webhook
metrics-port: ports.metrics
cert-dir: certificates.source
cert-secret: certificates.source
service: fullnameOverride
webhook-configurations: fullnameOverride
cert-lifetime: certificates.own.lifetime
gpu-resources: gpuResources
templates: templateKinds
log-level: logLevel
log-level-file: logLevel
client-ca: clientCertificates.caConfigMap
client-names: clientCertificates.names
shutdown-delay: shutdownDelay
{{- end -}}

{{- /* Kinds whose templates are known without templateKinds; src/admission/template-kinds.ts has them. */ -}}
{{- define "gpugate.builtInKinds" -}}
[apps/Deployment, apps/StatefulSet, apps/DaemonSet, apps/ReplicaSet, /ReplicationController, batch/Job, batch/CronJob]
{{- end -}}

{{- /* Values that are fine each, and could not work together: the schema can't tell them. A line for each, with its name and what to do. */ -}}
{{- define "gpugate.refuseContradictions" -}}
{{- $wrong := concat
      (include "gpugate.wrongTimes" . | fromYamlArray)
      (include "gpugate.wrongPorts" . | fromYamlArray)
      (include "gpugate.wrongCertificates" . | fromYamlArray)
      (include "gpugate.wrongAvailability" . | fromYamlArray)
      (include "gpugate.wrongResources" . | fromYamlArray)
      (include "gpugate.wrongVolumes" . | fromYamlArray)
      (include "gpugate.wrongNamespaces" . | fromYamlArray)
      (include "gpugate.wrongConditions" . | fromYamlArray)
      (include "gpugate.wrongKinds" . | fromYamlArray)
      (include "gpugate.wrongSettings" . | fromYamlArray) -}}
{{- if $wrong -}}
{{- fail (join "\n" $wrong) -}}
{{- end -}}
{{- end -}}

{{- define "gpugate.wrongTimes" -}}
{{- $wrong := list -}}
{{- $delay := include "gpugate.seconds" .Values.shutdownDelay | float64 -}}
{{- /* src/commands/configuration.ts */ -}}
{{- if gt $delay 300.0 -}}
{{- $wrong = append $wrong (printf "shutdownDelay: %s is too long; give 300s or less" .Values.shutdownDelay) -}}
{{- end -}}
{{- /* src/server/shutdown.ts closes connections 20 s after the delay. */ -}}
{{- $needed := addf $delay 20.0 -}}
{{- if le (float64 .Values.terminationGracePeriodSeconds) $needed -}}
{{- $wrong = append $wrong (printf "terminationGracePeriodSeconds: %d is too short for shutdownDelay (%s) and the 20 s after it that answers under way may take; give %d or more, or a shorter shutdownDelay" (int .Values.terminationGracePeriodSeconds) .Values.shutdownDelay (add 1 (floor $needed | int))) -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}

{{- define "gpugate.wrongPorts" -}}
{{- $wrong := list -}}
{{- if eq (int .Values.ports.metrics) (int .Values.ports.webhook) -}}
{{- $wrong = append $wrong (printf "ports.metrics: %d is ports.webhook too; give another port" (int .Values.ports.metrics)) -}}
{{- end -}}
{{- if .Values.hostNetwork -}}
{{- range $name, $port := .Values.ports -}}
{{- if eq (int $port) 10250 -}}
{{- $wrong = append $wrong (printf "ports.%s: 10250 is the kubelet's on every node; give another port, such as 10260, or leave out hostNetwork" $name) -}}
{{- else if lt (int $port) 1024 -}}
{{- $wrong = append $wrong (printf "ports.%s: %d is only root's on the node's network; give 1024 or more" $name (int $port)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (eq (default "" .Values.dnsPolicy) "None") (not (default dict .Values.dnsConfig).nameservers) -}}
{{- $wrong = append $wrong "dnsPolicy: None leaves the pods without a name server; give dnsConfig.nameservers" -}}
{{- end -}}
{{- if regexMatch `^(127\.[0-9.]+|::1|localhost)$` (default "" .Values.host) -}}
{{- $wrong = append $wrong (printf `host: %s is reached by nobody outside of the pod; leave it empty, or give "::"` .Values.host) -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}

{{- define "gpugate.wrongCertificates" -}}
{{- $wrong := list -}}
{{- $source := .Values.certificates.source -}}
{{- with .Values.certificates.own -}}
{{- /* src/commands/configuration.ts */ -}}
{{- $lifetime := include "gpugate.seconds" .lifetime | float64 -}}
{{- if or (lt $lifetime 10.0) (gt $lifetime 31536000.0) -}}
{{- $wrong = append $wrong (printf "certificates.own.lifetime: %s is not between 10s and 365d; give one such as 90d" .lifetime) -}}
{{- end -}}
{{- end -}}
{{- with .Values.certificates.certManager -}}
{{- $duration := include "gpugate.seconds" .duration | float64 -}}
{{- $before := include "gpugate.seconds" .renewBefore | float64 -}}
{{- if le $duration $before -}}
{{- $wrong = append $wrong (printf "certificates.certManager.renewBefore: %s is not shorter than duration (%s); give a third of it" .renewBefore .duration) -}}
{{- end -}}
{{- /* cert-manager, pkg/apis/certmanager/v1/const.go: MinimumCertificateDuration, MinimumRenewBefore */ -}}
{{- if lt $duration 3600.0 -}}
{{- $wrong = append $wrong (printf "certificates.certManager.duration: %s is less than the hour that cert-manager asks for; give 1h or more" .duration) -}}
{{- end -}}
{{- if lt $before 300.0 -}}
{{- $wrong = append $wrong (printf "certificates.certManager.renewBefore: %s is less than the five minutes that cert-manager asks for; give 5m or more" .renewBefore) -}}
{{- end -}}
{{- if not .issuerRef -}}
{{- /* That of templates/certificates.yaml. */ -}}
{{- if gt $duration (mulf 87600.0 3600.0) -}}
{{- $wrong = append $wrong (printf "certificates.certManager.duration: %s is longer than its CA lives, 87600h; give less, or an issuerRef" .duration) -}}
{{- end -}}
{{- else if ne $source "cert-manager" -}}
{{- $wrong = append $wrong (printf "certificates.certManager.issuerRef: is of no use with certificates.source %s; set that to cert-manager, or leave this out" $source) -}}
{{- else if not .issuerRef.name -}}
{{- $wrong = append $wrong (printf "certificates.certManager.issuerRef: has no name; give the name of the %s, or leave issuerRef empty for an own CA" (default "Issuer" .issuerRef.kind)) -}}
{{- end -}}
{{- end -}}
{{- if ne $source "secret" -}}
{{- range $name, $value := .Values.certificates.secret -}}
{{- if $value -}}
{{- $wrong = append $wrong (printf "certificates.secret.%s: is of no use with certificates.source %s; set that to secret, or leave this out" $name $source) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .Values.clientCertificates -}}
{{- if and (not .caConfigMap) (ne (join "," .names) "kube-apiserver") -}}
{{- $wrong = append $wrong "clientCertificates.names: is of no use without clientCertificates.caConfigMap; give that too, or leave this out" -}}
{{- end -}}
{{- end -}}
{{- with .Values.serviceAccount -}}
{{- if and (not .create) .annotations -}}
{{- $wrong = append $wrong "serviceAccount.annotations: is of no use where serviceAccount.create is false; set them on the account itself" -}}
{{- end -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}

{{- define "gpugate.wrongAvailability" -}}
{{- $wrong := list -}}
{{- $replicas := int .Values.replicas -}}
{{- with .Values.podDisruptionBudget -}}
{{- if and .enabled (gt $replicas 1) -}}
{{- $away := int .maxUnavailable -}}
{{- if kindIs "string" .maxUnavailable -}}
{{- /* Rounded up, as the API server does. */ -}}
{{- $away = divf (mulf (trimSuffix "%" .maxUnavailable | float64) (float64 $replicas)) 100.0 | ceil | int -}}
{{- end -}}
{{- if ge $away $replicas -}}
{{- $wrong = append $wrong (printf "podDisruptionBudget.maxUnavailable: %v lets all %d replicas be away at once; give less, or more replicas" .maxUnavailable $replicas) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $strategy := default dict .Values.updateStrategy -}}
{{- with $strategy.rollingUpdate -}}
{{- if eq (default "" $strategy.type) "Recreate" -}}
{{- $wrong = append $wrong "updateStrategy.rollingUpdate: is of no use with the type Recreate; leave it out" -}}
{{- else if and (hasKey . "maxSurge") (hasKey . "maxUnavailable") (regexMatch "^0+%?$" (toString .maxSurge)) (regexMatch "^0+%?$" (toString .maxUnavailable)) -}}
{{- $wrong = append $wrong "updateStrategy.rollingUpdate: maxSurge and maxUnavailable are both 0, so no replica could ever be replaced; give one of them 1 or more" -}}
{{- end -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}

{{- define "gpugate.wrongResources" -}}
{{- $wrong := list -}}
{{- $limits := .Values.resources.limits -}}
{{- if lt (include "gpugate.heapMiB" . | int) 96 -}}
{{- $wrong = append $wrong (printf "resources.limits.memory: %s is too little; give 160Mi or more" (toString $limits.memory)) -}}
{{- end -}}
{{- range $name, $request := .Values.resources.requests -}}
{{- $limit := get $limits $name -}}
{{- if and $limit (gt (include "gpugate.amount" $request | float64) (include "gpugate.amount" $limit | float64)) -}}
{{- $wrong = append $wrong (printf "resources.requests.%s: %v is more than resources.limits.%s (%v); give no more than that" $name $request $name $limit) -}}
{{- end -}}
{{- end -}}
{{- range .Values.gpuResources -}}
{{- if regexMatch "kubernetes\\.io/" . -}}
{{- $wrong = append $wrong (printf "gpuResources: %s is no extended resource, as names of kubernetes.io are Kubernetes' own; leave it out" .) -}}
{{- end -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}

{{- define "gpugate.wrongVolumes" -}}
{{- $wrong := list -}}
{{- $mounted := list -}}
{{- range .Values.extraVolumeMounts -}}
{{- $mounted = append $mounted .name -}}
{{- end -}}
{{- $names := list -}}
{{- range .Values.extraVolumes -}}
{{- $names = append $names .name -}}
{{- /* Those of templates/deployment.yaml. */ -}}
{{- if has .name (list "settings" "certificates" "templates" "client-ca") -}}
{{- $wrong = append $wrong (printf "extraVolumes: %s is a volume of the chart; give another name" .name) -}}
{{- else if not (has .name $mounted) -}}
{{- $wrong = append $wrong (printf "extraVolumes: %s is mounted nowhere; name it in extraVolumeMounts, or leave it out" .name) -}}
{{- end -}}
{{- end -}}
{{- range $mounted -}}
{{- if not (has . $names) -}}
{{- $wrong = append $wrong (printf "extraVolumeMounts: there is no volume %s; add it to extraVolumes" .) -}}
{{- end -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}

{{- define "gpugate.wrongConditions" -}}
{{- $wrong := list -}}
{{- $taken := list -}}
{{- range $entries := .Files.Get "files/webhooks.yaml" | fromYaml -}}
{{- range $entries -}}
{{- range .matchConditions -}}
{{- $taken = append $taken .name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range .Values.webhooks.matchConditions -}}
{{- if has .name $taken -}}
{{- $wrong = append $wrong (printf "webhooks.matchConditions: %s stands twice, or is one of the chart; give another name" .name) -}}
{{- end -}}
{{- $taken = append $taken .name -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}

{{- define "gpugate.wrongNamespaces" -}}
{{- $wrong := list -}}
{{- $excluded := list .Release.Namespace -}}
{{- range (index (.Files.Get "files/webhooks.yaml" | fromYaml).validate 0).namespaceSelector.matchExpressions -}}
{{- if eq .key "kubernetes.io/metadata.name" -}}
{{- $excluded = concat $excluded .values -}}
{{- end -}}
{{- end -}}
{{- $further := .Values.webhooks.excludedNamespaces -}}
{{- range $name, $labels := .Values.namespaces -}}
{{- if has $name $excluded -}}
{{- $wrong = append $wrong (printf "namespaces.%s: is never judged; leave it out" $name) -}}
{{- else if has $name $further -}}
{{- $wrong = append $wrong (printf "namespaces.%s: is never judged, as webhooks.excludedNamespaces says; leave it out of one of the two" $name) -}}
{{- end -}}
{{- end -}}
{{- /* `helm lint` and whoever only looks at what is rendered name no namespace. */ -}}
{{- if and (has .Values.test.namespace (concat $excluded $further)) (or (ne .Values.test.namespace "default") (has "default" $further)) -}}
{{- $wrong = append $wrong (printf "test.namespace: %s is never judged; give a namespace that is" .Values.test.namespace) -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}

{{- define "gpugate.wrongKinds" -}}
{{- $wrong := list -}}
{{- $seen := list -}}
{{- range .Values.templateKinds -}}
{{- $kind := printf "%s/%s" .group .kind -}}
{{- if has $kind (include "gpugate.builtInKinds" $ | fromYamlArray) -}}
{{- $wrong = append $wrong (printf "templateKinds: %s is built in; leave it out" .kind) -}}
{{- else if eq $kind "/Pod" -}}
{{- $wrong = append $wrong "templateKinds: a Pod is judged itself; leave it out" -}}
{{- else if has $kind $seen -}}
{{- $wrong = append $wrong (printf "templateKinds: %s of %s stands twice; leave out one of the two" .kind (default "the core group" .group)) -}}
{{- end -}}
{{- $seen = append $seen $kind -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}

{{- define "gpugate.wrongSettings" -}}
{{- $wrong := list -}}
{{- $settings := include "gpugate.settings" . | fromYaml -}}
{{- range .Values.extraArgs -}}
{{- $flag := regexFind "^--[a-z-]+" . -}}
{{- with get $settings (trimPrefix "--" $flag) -}}
{{- $wrong = append $wrong (printf "extraArgs: %s is set by the chart; use %s" $flag .) -}}
{{- end -}}
{{- end -}}
{{- $seen := list -}}
{{- range .Values.extraEnv -}}
{{- $setting := get $settings (trimPrefix "GPUGATE_" .name | lower | replace "_" "-") -}}
{{- if and (hasPrefix "GPUGATE_" .name) $setting -}}
{{- $wrong = append $wrong (printf "extraEnv: %s is set by the chart; use %s" .name $setting) -}}
{{- else if eq .name "POD_NAMESPACE" -}}
{{- $wrong = append $wrong "extraEnv: POD_NAMESPACE is set by the chart; leave it out" -}}
{{- else if has .name $seen -}}
{{- $wrong = append $wrong (printf "extraEnv: %s stands twice; leave out one of the two" .name) -}}
{{- else if eq .name "NODE_OPTIONS" -}}
{{- if not .value -}}
{{- $wrong = append $wrong "extraEnv: NODE_OPTIONS: give a value, which is put after the chart's own options" -}}
{{- else if regexMatch "--max[-_]old[-_]space[-_]size" .value -}}
{{- $wrong = append $wrong "extraEnv: NODE_OPTIONS: the heap is 60 % of resources.limits.memory; change that instead" -}}
{{- end -}}
{{- end -}}
{{- $seen = append $seen .name -}}
{{- end -}}
{{- toYaml $wrong -}}
{{- end -}}
