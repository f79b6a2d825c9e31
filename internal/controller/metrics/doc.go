// Package metrics reports operations to Prometheus. It counts the objects at each scrape, so that
// every controller reports the same, whether it leads or not and however long it runs. No metric
// has an operation or a node as a label: there may be thousands.
package metrics
