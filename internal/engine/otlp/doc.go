// Package otlp exports spans to an OpenTelemetry collector by OTLP over HTTP. It is configured by
// the environment variables of OpenTelemetry, and off unless one of them has an endpoint.
package otlp
