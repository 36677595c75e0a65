{{- define "signalbox.name" -}}
{{- if contains "signalbox" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-signalbox{{ end }}
{{- end }}
{{- define "signalbox.pods" -}}
app.kubernetes.io/name: signalbox
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "signalbox.labels" -}}
{{ include "signalbox.pods" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
{{- define "signalbox.metadata" -}}
name: {{ include "signalbox.name" . }}
labels:
  {{- include "signalbox.labels" . | nindent 2 }}
{{- end }}

{{- define "signalbox.sharesByConfigMaps" -}}
{{ hasKey (dig "shared" dict (.Values.spec | default dict)) "kubernetes" }}
{{- end }}
