{{- define "refit.tag" -}}
{{ .Values.images.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "refit.controllerImage" -}}
{{ .Values.images.repository }}/refit-controller:{{ include "refit.tag" . }}
{{- end -}}

{{- define "refit.agentImage" -}}
{{ .Values.images.repository }}/refit-agent:{{ include "refit.tag" . }}
{{- end -}}

{{- define "refit.componentsImage" -}}
{{ .Values.images.repository }}/refit-components:{{ include "refit.tag" . }}
{{- end -}}

{{- /* The keys that refit-components accepts: those of hosts. */ -}}
{{- define "refit.keys" -}}
{{- toJson .Values.keys -}}
{{- end -}}

{{- /* What hosts get: the keys that they accept, the settings of agents, and the stores of backups. */ -}}
{{- define "refit.configuration" -}}
{{- if has .Release.Namespace (list "refit-system" "refit-agent" "refit-trial" "refit-components") -}}
{{- fail (printf "choose another namespace for the release, for example kube-system: %s is part of the chart, and would be deleted with the record of Helm" .Release.Namespace) -}}
{{- end -}}
{{- if not .Values.keys -}}
{{- fail "keys: set the public key of ClusterReleases, for example with --set-file keys.release\\.pem=refit-release.pem: hosts verify ClusterReleases with it" -}}
{{- end -}}
{{- $settings := deepCopy (.Values.settings | default dict) -}}
{{- if .Values.sources -}}
{{- $settings = set $settings "sources" .Values.sources -}}
{{- end -}}
{{- $data := dict "agent.yaml" (printf "%s\n" (toYaml $settings)) -}}
{{- if .Values.stores -}}
{{- $data = set $data "stores.yaml" (printf "%s\n" (toYaml .Values.stores)) -}}
{{- end -}}
{{- range $name, $key := .Values.keys -}}
{{- $data = set $data $name $key -}}
{{- end -}}
{{- toJson $data -}}
{{- end -}}

{{- /* The labels of an object that only the chart has: those of the user override that of Refit. */ -}}
{{- define "refit.labels" -}}
{{- merge (deepCopy (. | default dict)) (dict "app.kubernetes.io/part-of" "refit") | toYaml -}}
{{- end -}}

{{- /* The pods of a workload, with a hash of them and of their configuration, as `refit install` computes it. */ -}}
{{- define "refit.pods" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- $values := index $root.Values $role -}}
{{- $pods := include (printf "refit.pods.%s" $role) $root | fromYaml -}}
{{- $spec := $pods.spec -}}
{{- with $values.tolerations -}}
{{- $_ := set $spec "tolerations" (concat $spec.tolerations . | uniq) -}}
{{- end -}}
{{- with $values.priorityClassName -}}
{{- $_ := set $spec "priorityClassName" . -}}
{{- end -}}
{{- with $values.resources -}}
{{- $_ := set (first ($spec.initContainers | default $spec.containers)) "resources" . -}}
{{- end -}}
{{- if eq $role "controller" -}}
{{- $container := first $spec.containers -}}
{{- with $root.Values.traces.endpoint -}}
{{- $_ := set $container "env" (append $container.env (dict "name" "OTEL_EXPORTER_OTLP_ENDPOINT" "value" .)) -}}
{{- end -}}
{{- with $values.env -}}
{{- $_ := set $container "env" (concat $container.env .) -}}
{{- end -}}
{{- end -}}
{{- if eq $role "components" -}}
{{- $container := first $spec.containers -}}
{{- range $name, $_ := $root.Values.keys -}}
{{- $mount := dict "name" "keys" "mountPath" (printf "/etc/refit/keys/%s" $name) "subPath" $name "readOnly" true -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts $mount) -}}
{{- end -}}
{{- end -}}
{{- $hashed := list $pods nil -}}
{{- if eq $role "components" -}}
{{- $hashed = list $pods (include "refit.keys" $root | fromYaml) -}}
{{- end -}}
{{- if eq $role "agent" -}}
{{- $hashed = list $pods (include "refit.configuration" $root | fromYaml) -}}
{{- end -}}
{{- $hash := $hashed | toJson | sha256sum | trunc 16 -}}
{{- $_ := set $pods.metadata "annotations" (dict "refit.dev/template" $hash) -}}
{{- toYaml $pods -}}
{{- end -}}
