{{- define "intaglio.name" -}}
{{- printf "%s-intaglio" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "intaglio.selector" -}}
app.kubernetes.io/name: intaglio
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "intaglio.labels" -}}
{{ include "intaglio.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}
